"""The application in this process behind a real socket, so that requests are counted, dropped and refused at will."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from grader.queue.remote import RemoteCoordinator
from grader.schemas.worker_token import WorkerTokenBody
from grader.service.accounts.accounts import User
from grader.service.operation import worker_tokens
from grader.service.platform import Platform
from grader.settings import Settings
from grader.web.app import create_app
from tests.queue.conftest import (  # noqa: F401 - fixtures
    other,
    platform,
    redis_server,
    redis_url,
    staff,
    student,
)
from tests.service.world import make_settings, until


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:  # noqa: F811
    return make_settings(tmp_path, redis_url, devices="cpu,h200")


MakeCoordinator = Callable[..., RemoteCoordinator]


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: object) -> None:
        pass


@dataclass
class Served:
    """``lose``: calls whose next answers are lost after they were carried out. ``fail``: whose next answers are 500."""

    app: Flask
    url: str = ""
    # Requests in progress.
    active: int = 0
    calls: list[str] = field(default_factory=list)
    lose: list[str] = field(default_factory=list)
    fail: list[str] = field(default_factory=list)

    def __call__(self, environ: dict[str, object], start: Callable[..., object]) -> Iterator[bytes]:
        self.active += 1
        try:
            yield from self._answer(environ, start)
        finally:
            self.active -= 1

    def _answer(self, environ: dict[str, object], start: Callable[..., object]) -> Iterable[bytes]:
        call = str(environ["PATH_INFO"]).removeprefix("/api/v1/worker/")
        self.calls.append(call)
        if call in self.fail:
            self.fail.remove(call)
            start("500 Internal Server Error", [("Content-Length", "4")])
            return [b"oops"]
        if call in self.lose:
            self.lose.remove(call)
            list(self.app(environ, lambda *_: None))  # type: ignore[arg-type]
            start("502 Bad Gateway", [("Content-Length", "0")])
            return [b""]
        return self.app(environ, start)  # type: ignore[arg-type]


@pytest.fixture
def served(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:  # noqa: F811
    monkeypatch.setattr("grader.web.throttle.storage_uri", lambda _: "memory://")
    served = Served(create_app(platform))
    server = make_server("127.0.0.1", 0, served, threaded=True, request_handler=_Quiet)  # type: ignore[arg-type]
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield served
    until(lambda: not served.active, "the end of every request")
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def token(platform: Platform, staff: User) -> str:  # noqa: F811
    return worker_tokens.issue(platform, staff, WorkerTokenBody(name="campus")).token


@pytest.fixture
def remote_settings(settings: Settings, served: Served, token: str, tmp_path: Path) -> Settings:
    """Of a host with neither database nor Redis nor catalogue."""
    return settings.model_copy(
        update={
            "data_dir": tmp_path / "node",
            "database_url": "postgresql://nobody:nothing@127.0.0.1:1/none",
            "redis_url": "redis://127.0.0.1:1/0",
            "challenges": tmp_path / "nowhere",
            "worker_server": served.url,
            "worker_token": token,
        }
    )


@pytest.fixture
def make_coordinator(served: Served, token: str, tmp_path: Path) -> Iterator[MakeCoordinator]:
    made: list[RemoteCoordinator] = []

    def make(name: str = "w", given: str = token) -> RemoteCoordinator:
        made.append(RemoteCoordinator(served.url, given, name, tmp_path / "node"))
        return made[-1]

    yield make
    for coordinator in made:
        coordinator.close()
