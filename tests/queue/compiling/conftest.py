"""An executor that compiles for a device whose GPU is known."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.queue.compile_executor import CompileExecutor
from grader.queue.direct import DirectCoordinator
from grader.queue.finaliser import Finaliser
from grader.queue.heartbeat import Heartbeat
from grader.records import gpus
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import utcnow
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.compiling.builders import BOARD, SOURCE, MakeExecutor, Send
from tests.service.world import body, make_settings


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    return make_settings(tmp_path, redis_url, devices=f"cpu,{BOARD}")


@pytest.fixture
def platform(platform: Platform) -> Platform:
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-1", BOARD, "NVIDIA H200", "sm_90a"), utcnow())
    return platform


@pytest.fixture
def stopping() -> threading.Event:
    return threading.Event()


@pytest.fixture
def heartbeat(platform: Platform) -> Iterator[Heartbeat]:
    heartbeat = Heartbeat(DirectCoordinator(platform, "c"))
    heartbeat.start()
    yield heartbeat
    heartbeat.close()


@pytest.fixture
def make_executor(
    platform: Platform, heartbeat: Heartbeat, stopping: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> MakeExecutor:
    monkeypatch.setattr(Finaliser, "pause_after_failure_s", 0.0)
    return lambda compiler: CompileExecutor(DirectCoordinator(platform, "c"), compiler, heartbeat, stopping)


@pytest.fixture
def send(platform: Platform, student: User) -> Send:
    def one(source: str = SOURCE, **values: object) -> str:
        given = {"filename": "a.cu", "device": BOARD, **values}
        return submit(platform, student, body(source=source, **given)).id

    return one
