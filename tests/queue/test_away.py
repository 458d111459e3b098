"""The database or the boxes are away for a while: no verdict and no attempt is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.exc import DataError, OperationalError

from grader.errors import BoxUnavailable, JudgeFailure
from grader.languages import Language
from grader.queue import finaliser, sandbox_health
from grader.queue.compile_executor import CompileExecutor
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.finaliser import Finaliser
from grader.queue.heartbeat import Heartbeat
from grader.queue.worker import run_worker
from grader.records import gpus, workers
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import SubmissionRow, WorkerRow, utcnow
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from grader.wakeups import COMPILE
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, judged, raises
from tests.service.world import body

AWAY = OperationalError("", None, Exception("server closed the connection"))
NO_ENGINE = BoxUnavailable("The engine does not answer.")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finaliser, "_WRITE_PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(sandbox_health, "_PAUSES_S", (0.0,))
    monkeypatch.setattr(Finaliser, "pause_after_failure_s", 0.0)


@pytest.fixture
def heartbeat(platform: Platform) -> Iterator[Heartbeat]:
    heartbeat = Heartbeat(DirectCoordinator(platform, "w"))
    heartbeat.start()
    yield heartbeat
    heartbeat.close()


def _executor(
    platform: Platform, judge: FakeJudge, heartbeat: Heartbeat, stopping: threading.Event | None = None
) -> Executor:
    return Executor(DirectCoordinator(platform, "w"), "cpu", judge, heartbeat, stopping or threading.Event())


def _failing(times: int, error: Exception = AWAY) -> Callable[[], int]:
    left = [times]

    def change() -> int:
        if left[0]:
            left[0] -= 1
            raise error
        return 42

    return change


def _failures(platform: Platform) -> int:
    with platform.sessions() as session:
        return int(session.query(SubmissionRow.failures).scalar())


def _register(platform: Platform) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", [Language.TRITON], utcnow())


def _sandbox_fault(platform: Platform) -> str:
    with platform.sessions() as session:
        return str(session.query(WorkerRow.sandbox_fault).scalar())


def test_a_result_is_written_when_the_database_is_back(platform: Platform) -> None:
    assert Finaliser(DirectCoordinator(platform, "w"), threading.Event()).write(_failing(50)) == 42


def test_a_worker_that_ends_does_not_wait_for_the_database(platform: Platform) -> None:
    stopping = threading.Event()
    stopping.set()
    assert Finaliser(DirectCoordinator(platform, "w"), stopping).write(_failing(3)) == 42
    with pytest.raises(OperationalError):
        Finaliser(DirectCoordinator(platform, "w"), stopping).write(_failing(4))


def test_a_write_that_the_database_refuses_is_not_retried(platform: Platform) -> None:
    with pytest.raises(DataError):
        Finaliser(DirectCoordinator(platform, "w"), threading.Event()).write(
            _failing(1, DataError("", None, Exception()))
        )


def test_a_write_is_given_up_after_its_time_limit(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finaliser, "_WRITE_SECONDS", 0.0)
    with pytest.raises(OperationalError):
        Finaliser(DirectCoordinator(platform, "w"), threading.Event()).write(_failing(1))


def test_a_database_outage_during_judging_costs_no_attempt(
    platform: Platform, student: User, heartbeat: Heartbeat
) -> None:
    sent = submit(platform, student, body()).id
    executor = _executor(platform, FakeJudge(raises(AWAY), judged()), heartbeat)
    assert executor.serve_one()
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.error, _failures(platform)) == (State.QUEUED, "The database was away.", 0)
    assert executor.serve_one()
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED


def test_a_claim_during_a_database_outage_keeps_its_wakeup(
    platform: Platform, student: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, serve, failed = submit(platform, student, body()).id, Executor.serve_one, [AWAY]

    def serve_one(executor: Executor) -> bool:
        if failed:
            raise failed.pop()
        return serve(executor)

    monkeypatch.setattr(Executor, "serve_one", serve_one)
    monkeypatch.setattr("grader.queue.worker._DATABASE_PAUSE_S", 0.0)
    run_worker(settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED
    assert not failed


@pytest.mark.parametrize("error", [NO_ENGINE, JudgeFailure("the disk is full"), OSError(28, "full")])
def test_a_worker_without_boxes_waits_and_costs_no_attempt(
    platform: Platform, student: User, heartbeat: Heartbeat, error: Exception
) -> None:
    _register(platform)
    sent = submit(platform, student, body()).id
    judge = FakeJudge(raises(error), judged())
    judge.boxless = 4
    executor = _executor(platform, judge, heartbeat)
    assert executor.serve_one()
    assert judge.boxless == 0, "it waited until boxes were there again"
    assert _sandbox_fault(platform) == ""
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.error, _failures(platform)) == (State.QUEUED, "The engine is away.", 0)
    assert platform.wakeups.waiting("run:cpu") == 2
    assert executor.serve_one()
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED


def test_a_failure_counts_as_an_attempt_if_boxes_can_start(
    platform: Platform, student: User, heartbeat: Heartbeat
) -> None:
    submit(platform, student, body())
    assert _executor(platform, FakeJudge(raises(NO_ENGINE)), heartbeat).serve_one()
    assert _failures(platform) == 1


def test_a_worker_waiting_for_boxes_can_be_stopped(
    platform: Platform, student: User, heartbeat: Heartbeat
) -> None:
    _register(platform)
    submit(platform, student, body())
    judge, stopping = FakeJudge(raises(NO_ENGINE)), threading.Event()
    judge.boxless = 1_000_000_000
    judge.on_try = lambda tries: stopping.set() if tries == 2 else None
    assert _executor(platform, judge, heartbeat, stopping).serve_one()
    assert _sandbox_fault(platform) == "The engine is away."


def test_a_compiler_without_boxes_costs_no_attempt(
    platform: Platform, student: User, heartbeat: Heartbeat
) -> None:
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-1", "h200", "NVIDIA H200", "sm_90a"), utcnow())
    platform = Platform(
        platform.settings.model_copy(update={"devices": "cpu,h200"}),
        *(platform.catalogue, platform.sessions, platform.wakeups, platform.engine),
    )
    sent = submit(platform, student, body(filename="a.cu", device="h200")).id

    def broken(_: Any) -> CompileResult:
        raise NO_ENGINE

    compiler = FakeCompiler(broken)
    compiler.boxless = 3
    executor = CompileExecutor(DirectCoordinator(platform, "w"), compiler, heartbeat, threading.Event())
    assert executor.serve_one()
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.error, _failures(platform)) == (State.QUEUED, "The engine is away.", 0)
    assert (platform.wakeups.waiting(COMPILE), compiler.boxless) == (2, 0)
    assert executor.serve_one()
    assert get_submission(platform, student, sent).state is State.WAITING
