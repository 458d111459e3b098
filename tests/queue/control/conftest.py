"""A device next to the host, and worker processes that end with the test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.queue import loop
from grader.settings import Settings
from tests.queue.control.builders import BOARD, ROOT, Start
from tests.service.world import make_settings


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    return make_settings(tmp_path, redis_url, devices=f"cpu,{BOARD}", lock_dir=tmp_path / "locks")


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker in this process notices between two waits for a wake-up that it is drained."""
    monkeypatch.setattr(loop, "_WAIT_SECONDS", 0.1)


@pytest.fixture
def start(tmp_path: Path, redis_url: str) -> Iterator[Start]:
    """Starts real worker processes; those still running at the end are killed."""
    started: list[subprocess.Popen[bytes]] = []

    def one(name: str, kind: str = "") -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.queue.slow_worker", str(tmp_path), redis_url, name, kind]
        started.append(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
