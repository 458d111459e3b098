"""Rate limits are counted in Redis if it answers, else in memory, and continue when it dies."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis import RedisError

from grader.queue.embedded import start_redis
from grader.service.accounts.accounts import create_user
from grader.service.platform import open_platform
from grader.settings import Settings
from grader.web import throttle
from grader.web.app import create_app
from tests.service.world import remove, short_folder
from tests.web import builders


def test_limits_are_kept_in_memory_without_redis(tmp_path: Path) -> None:
    assert throttle.storage_uri(builders.make_settings(tmp_path)) == "memory://"


def test_limits_use_redis_and_survive_its_death(tmp_path: Path) -> None:
    folder = short_folder()
    body = {"name": "nobody", "password": "guess"}
    with start_redis(Settings(data_dir=folder, redis_url="")) as server:
        settings = builders.make_settings(tmp_path, redis_url=server.url)
        assert throttle.storage_uri(settings).startswith("redis+unix://")
        platform = open_platform(settings)
        client = create_app(platform).test_client()
        assert client.post("/api/v1/tokens", json=body).status_code == 401
        assert [*platform.wakeups.connection.scan_iter("*sign-in*")]
    assert client.post("/api/v1/tokens", json=body).status_code == 401
    platform.close()
    remove(folder)


def test_a_silent_redis_delays_no_request_for_long(tmp_path: Path) -> None:
    """The client's defaults would wait half a minute per request."""
    folder = short_folder()
    with start_redis(Settings(data_dir=folder, redis_url="")) as server:
        platform = open_platform(builders.make_settings(tmp_path, redis_url=server.url))
        create_app(platform)
        client = throttle.limiter.storage.storage  # type: ignore[union-attr]
        given = client.connection_pool.connection_kwargs
        assert (given["socket_timeout"], given["socket_connect_timeout"]) == (0.5, 0.5)
        assert client.get_retry().get_retries() == 1
        platform.close()
    remove(folder)


@pytest.mark.parametrize(
    ("asked", "password", "status"),
    [
        ("test", "correct horse", 201),
        ("get_window_stats", "correct horse", 201),
        ("hit", "guess", 401),
    ],
)
def test_simultaneous_requests_continue_when_redis_is_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, password: str, status: int
) -> None:
    """Before they are counted, while they are, and when the headers report the rest."""
    folder = short_folder()
    with start_redis(Settings(data_dir=folder, redis_url="")) as server:
        platform = open_platform(builders.make_settings(tmp_path, redis_url=server.url))
        create_user(platform, "ada", "correct horse")
        client = create_app(platform).test_client()

        def dead(*_: object, **__: object) -> object:
            throttle.limiter._storage_dead = True  # noted by another thread a moment earlier
            raise RedisError("gone")

        monkeypatch.setattr(throttle.limiter._limiter, asked, dead)
        answered = client.post("/api/v1/tokens", json={"name": "ada", "password": password})
        assert throttle.limiter._storage_dead
        assert answered.status_code == status
        throttle.limiter._storage_dead = False
        platform.close()
    remove(folder)
