"""Compiled libraries that are gone, or were never made."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.heartbeat import Heartbeat
from grader.records import artefacts
from grader.records.engine import writing
from grader.records.models import ArtefactRow
from grader.sandbox.compiler.nvcc import CompileRequest
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from tests.components import need
from tests.queue.compiling.builders import BOARD, MakeExecutor, Send, see, state, wakeups
from tests.queue.fakes import FakeCompiler, FakeJudge
from tests.service.world import body


def test_a_lost_artefact_is_compiled_by_the_running_worker(
    platform: Platform,
    student: User,
    send: Send,
    make_executor: MakeExecutor,
    heartbeat: Heartbeat,
    stopping: threading.Event,
) -> None:
    need("nvcc")
    sent = send()
    make_executor(FakeCompiler()).serve_one()
    with writing(platform.sessions) as session:
        session.query(ArtefactRow).delete()
    judge = FakeJudge()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    assert Executor(
        DirectCoordinator(board, "r"), board.settings.device, judge, heartbeat, stopping
    ).serve_one()
    assert [job.artefact for job in judge.jobs] == [None]
    assert see(platform, student, sent).verdict is Verdict.ACCEPTED


def test_a_worker_without_a_compiler_wakes_one_for_a_lost_artefact(
    platform: Platform,
    student: User,
    send: Send,
    make_executor: MakeExecutor,
    heartbeat: Heartbeat,
    stopping: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.queue.executor.nvcc_version", lambda: None)
    sent = send()
    make_executor(FakeCompiler()).serve_one()
    platform.wakeups.connection.flushall()
    with writing(platform.sessions) as session:
        session.query(ArtefactRow).delete()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    assert not Executor(
        DirectCoordinator(board, "r"), board.settings.device, FakeJudge(), heartbeat, stopping
    ).serve_one()
    assert state(platform, student, sent) is State.QUEUED
    assert wakeups(platform) == (1, 0)


def test_claiming_an_uncompiled_submission_keeps_the_others_wakeup(
    platform: Platform,
    student: User,
    other: User,
    send: Send,
    heartbeat: Heartbeat,
    stopping: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The wake-up to compile may go to a worker of another device, which finds nothing there."""
    monkeypatch.setattr("grader.queue.executor.nvcc_version", lambda: "13.0.88")
    first = send()
    second = submit(platform, other, body(source="x = 1\n", filename="a.py", device=BOARD)).id
    platform.wakeups.connection.flushall()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    assert Executor(
        DirectCoordinator(board, "r"), board.settings.device, FakeJudge(), heartbeat, stopping
    ).serve_one()
    assert state(platform, student, first) is State.DONE
    assert state(platform, other, second) is State.QUEUED
    assert wakeups(platform) == (0, 1)


def test_a_missing_artefact_is_none(platform: Platform) -> None:
    with platform.sessions() as session:
        assert artefacts.read(session, CompileRequest("", "").key()) is None
