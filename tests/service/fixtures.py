"""Fixtures for the service and the queue; both ``conftest.py`` import them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from grader.queue.embedded import EmbeddedRedis, start_redis
from grader.schemas.account import Role
from grader.service.accounts.accounts import User, create_user
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from tests.service.world import make_settings, remove, short_folder


@pytest.fixture(scope="session")
def redis_server() -> Iterator[EmbeddedRedis]:
    folder = short_folder()
    with start_redis(Settings(data_dir=folder, redis_url="")) as server:
        yield server
    remove(folder)


@pytest.fixture
def redis_url(redis_server: EmbeddedRedis) -> str:
    client = Redis.from_url(redis_server.url)
    client.flushall()
    client.close()
    return redis_server.url


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    return make_settings(tmp_path, redis_url)


@pytest.fixture
def platform(settings: Settings) -> Iterator[Platform]:
    platform = open_platform(settings)
    yield platform
    platform.close()


@pytest.fixture
def student(platform: Platform) -> User:
    return create_user(platform, "ada", "correct horse")


@pytest.fixture
def other(platform: Platform) -> User:
    return create_user(platform, "bob", "correct horse")


@pytest.fixture
def staff(platform: Platform) -> User:
    return create_user(platform, "teacher", "correct horse", Role.STAFF)
