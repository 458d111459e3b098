"""The database or the boxes are away for a while: no verdict is lost by it, and no try."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.orm import Session

from grader.errors import BoxUnavailable, JudgeFailure
from grader.queue import footing, hands
from grader.queue.compile_desk import CompileDesk
from grader.queue.desk import Desk
from grader.queue.hands import Hands
from grader.queue.heart import Heart
from grader.queue.tickets import COMPILE
from grader.queue.worker import run_worker
from grader.records import gpus, workers
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import SubmissionRow, WorkerRow, utcnow
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.report import Language, Verdict
from grader.schemas.submission import State
from grader.service.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import get_submission
from grader.service.submit import submit
from grader.settings import Settings
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, judged, raises
from tests.service.world import body

AWAY = OperationalError("", None, Exception("server closed the connection"))
NO_ENGINE = BoxUnavailable("The engine does not answer.")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "_WRITE_PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(footing, "_PAUSES_S", (0.0,))
    monkeypatch.setattr(Hands, "pause_after_failure_s", 0.0)


@pytest.fixture
def heart(platform: Platform) -> Iterator[Heart]:
    heart = Heart(platform, "w")
    heart.start()
    yield heart
    heart.close()


def _failing(times: int, error: Exception = AWAY) -> Callable[[Session], int]:
    left = [times]

    def change(_: Session) -> int:
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


def test_what_is_written_is_kept_until_the_database_is_back(platform: Platform) -> None:
    assert Hands(platform, threading.Event()).write(_failing(50)) == 42


def test_a_worker_that_ends_does_not_wait_for_the_database(platform: Platform) -> None:
    stopping = threading.Event()
    stopping.set()
    assert Hands(platform, stopping).write(_failing(3)) == 42
    with pytest.raises(OperationalError):
        Hands(platform, stopping).write(_failing(4))


def test_what_the_database_refuses_is_not_tried_again(platform: Platform) -> None:
    with pytest.raises(DataError):
        Hands(platform, threading.Event()).write(_failing(1, DataError("", None, Exception())))


def test_what_it_never_takes_is_given_up(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "_WRITE_SECONDS", 0.0)
    with pytest.raises(OperationalError):
        Hands(platform, threading.Event()).write(_failing(1))


def test_a_database_that_goes_away_under_a_judgement_costs_no_try(
    platform: Platform, student: User, heart: Heart
) -> None:
    sent = submit(platform, student, body()).id
    desk = Desk(platform, FakeJudge(raises(AWAY), judged()), heart, "w", threading.Event())
    assert desk.serve_one()
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.error, _failures(platform)) == (State.QUEUED, "The database was away.", 0)
    assert desk.serve_one()
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED


def test_a_claim_without_a_database_keeps_its_ticket(
    platform: Platform, student: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, serve, failed = submit(platform, student, body()).id, Desk.serve_one, [AWAY]

    def serve_one(desk: Desk) -> bool:
        if failed:
            raise failed.pop()
        return serve(desk)

    monkeypatch.setattr(Desk, "serve_one", serve_one)
    monkeypatch.setattr("grader.queue.worker._DATABASE_PAUSE_S", 0.0)
    run_worker(settings, "w", burst=True, judge=FakeJudge(), boxes=NoBoxes())
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED
    assert not failed


@pytest.mark.parametrize("error", [NO_ENGINE, JudgeFailure("the disk is full"), OSError(28, "full")])
def test_without_boxes_no_try_is_lost_and_the_worker_waits_for_them(
    platform: Platform, student: User, heart: Heart, error: Exception
) -> None:
    _register(platform)
    sent = submit(platform, student, body()).id
    judge = FakeJudge(raises(error), judged())
    judge.boxless = 4
    desk = Desk(platform, judge, heart, "w", threading.Event())
    assert desk.serve_one()
    assert judge.boxless == 0, "it waited until boxes were there again"
    assert _sandbox_fault(platform) == ""
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.error, _failures(platform)) == (State.QUEUED, "The engine is away.", 0)
    assert platform.tickets.waiting("run:cpu") == 2
    assert desk.serve_one()
    assert get_submission(platform, student, sent).verdict is Verdict.ACCEPTED


def test_a_failure_where_boxes_start_is_counted(platform: Platform, student: User, heart: Heart) -> None:
    submit(platform, student, body())
    assert Desk(platform, FakeJudge(raises(NO_ENGINE)), heart, "w", threading.Event()).serve_one()
    assert _failures(platform) == 1


def test_a_worker_without_boxes_can_be_ended(platform: Platform, student: User, heart: Heart) -> None:
    _register(platform)
    submit(platform, student, body())
    judge, stopping = FakeJudge(raises(NO_ENGINE)), threading.Event()
    judge.boxless = 1_000_000_000
    threading.Timer(0.2, stopping.set).start()
    assert Desk(platform, judge, heart, "w", stopping).serve_one()
    assert _sandbox_fault(platform) == "The engine is away."


def test_without_boxes_to_compile_in_no_try_is_lost(platform: Platform, student: User, heart: Heart) -> None:
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-1", "h200", "NVIDIA H200", "sm_90a"), utcnow())
    platform = Platform(
        platform.settings.model_copy(update={"devices": "cpu,h200"}),
        *(platform.course, platform.sessions, platform.tickets, platform.engine),
    )
    sent = submit(platform, student, body(filename="a.cu", device="h200")).id

    def broken(_: Any) -> CompileResult:
        raise NO_ENGINE

    compiler = FakeCompiler(broken)
    compiler.boxless = 3
    desk = CompileDesk(platform, compiler, heart, "w", threading.Event())
    assert desk.serve_one()
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.error, _failures(platform)) == (State.QUEUED, "The engine is away.", 0)
    assert (platform.tickets.waiting(COMPILE), compiler.boxless) == (2, 0)
    assert desk.serve_one()
    assert get_submission(platform, student, sent).state is State.WAITING
