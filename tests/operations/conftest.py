"""A platform of real processes: gunicorn with two, and a worker with its judge."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from grader.cli.config import environment
from grader.queue.embedded import EmbeddedRedis
from grader.service.accounts import accounts, tokens
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from tests.operations.requests import Answer, call
from tests.service.fixtures import redis_server, redis_url  # noqa: F401 - fixtures
from tests.service.world import until
from tests.web import builders

SCRAPE_TOKEN = "scrape-me-0123456789"
WEB = "grader.web.server"
PASSWORD = "a password that no log may hold"


@dataclass
class Running:
    """``logs`` has a file for each process."""

    settings: Settings
    platform: Platform
    url: str
    token: str
    logs: list[Path]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def end(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(60)

    def told(self) -> str:
        return "".join(path.read_text() for path in self.logs)


@pytest.fixture
def running(tmp_path: Path, redis_url: str) -> Iterator[Running]:  # noqa: F811 - a fixture
    yield from _run(tmp_path, redis_url, (WEB, "grader.queue.worker"))


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, redis_server: EmbeddedRedis) -> Iterator[Running]:  # noqa: F811
    yield from _run(tmp_path_factory.mktemp("web"), redis_server.url, (WEB,))


def _run(folder: Path, redis: str, modules: tuple[str, ...]) -> Iterator[Running]:
    settings = builders.make_settings(
        folder, redis_url=redis, port=0, metrics_token=SCRAPE_TOKEN, log_format="json"
    )
    platform = open_platform(settings)
    ada = accounts.create_user(platform, "ada", PASSWORD)
    token = tokens.issue_token(platform, ada, "test").token
    logs = [folder / f"{module}.log" for module in modules]
    started: list[subprocess.Popen[bytes]] = []
    try:
        started = [_start(module, settings, log) for module, log in zip(modules, logs, strict=True)]
        told = until(lambda: _address(folder / f"{WEB}.log.out"), "the web listens", 60)
        yield Running(settings, platform, told, token, logs, started)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(60)
        platform.close()


def _start(module: str, settings: Settings, log: Path) -> subprocess.Popen[bytes]:
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("GRADER_", "PROMETHEUS_"))
    }
    env |= {name: value for name, value in environment(settings).items() if name.startswith("GRADER_")}
    out = log.with_name(f"{log.name}.out")
    with log.open("wb") as errors, out.open("wb") as told:
        return subprocess.Popen([sys.executable, "-m", module], env=env, stdout=told, stderr=errors)


def _address(out: Path) -> str | None:
    found = re.search(r"^Listening on (http\S+)$", out.read_text(), re.MULTILINE)
    return found[1] if found else None


def scrape(running: Running, token: str = SCRAPE_TOKEN) -> Answer:
    return call(f"{running.url}/metrics", headers={"Authorization": f"Bearer {token}"})
