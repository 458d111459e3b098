"""Kernels are compiled while their submission waits for a busy GPU, which it does not notice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from grader.errors import BoxUnavailable
from grader.judge.process import Cancelled
from grader.languages import Language
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.heartbeat import Heartbeat
from grader.queue.worker import run_compile_worker
from grader.records import claims, workers
from grader.records.engine import writing
from grader.records.models import ArtefactRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.settings import Settings
from grader.wakeups import KERNELS
from tests.queue.compiling.builders import BOARD, MakeExecutor, Send, see, wakeups
from tests.queue.fakes import LIBRARY, FakeCompiler, FakeJudge, NoBoxes


@pytest.fixture
def waiting(platform: Platform, send: Send) -> str:
    """A submission behind another, which the device's only worker holds."""
    send("x = 1\n", filename="a.py")
    with writing(platform.sessions) as session:
        # It is alive for as long as a slow test takes.
        workers.register(session, "w", BOARD, list(Language), utcnow() + timedelta(minutes=5), "GPU-1")
        wanted = claims.ClaimRequest(BOARD, list(Language), "w", utcnow(), 30.0)
        assert claims.claim(session, wanted).held is not None
    return send("x = 2\n", filename="a.py")


def test_kernels_compiled_ahead_are_used_and_do_not_change_the_queue(
    platform: Platform,
    student: User,
    waiting: str,
    make_executor: MakeExecutor,
    heartbeat: Heartbeat,
    stopping: threading.Event,
) -> None:
    before = see(platform, student, waiting)
    assert (platform.wakeups.waiting(KERNELS), wakeups(platform)) == (1, (0, 2))
    executor = make_executor(compiler := FakeCompiler())
    with capture_logs() as logs:
        assert [executor.compile_ahead(), executor.compile_ahead()] == [True, False]
    assert [line["bytes"] for line in logs if line["event"] == "kernels_compiled_ahead"] == [len(LIBRARY)]
    assert [request.source for request in compiler.kernels] == ["x = 2\n"]
    assert see(platform, student, waiting) == before

    judge = FakeJudge()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    assert Executor(
        DirectCoordinator(board, "r"), board.settings.device, judge, heartbeat, stopping
    ).serve_one()
    (job,) = judge.jobs
    assert job.artefact is not None
    assert (job.submission, job.artefact.library) == (waiting, LIBRARY)
    assert see(platform, student, waiting).verdict is Verdict.ACCEPTED


def test_a_compile_worker_compiles_ahead_for_each_waiting_submission(
    platform: Platform, waiting: str, send: Send, settings: Settings
) -> None:
    send("x = 3\n", filename="a.py")
    compiler = FakeCompiler()
    run_compile_worker(settings, burst=True, boxes=NoBoxes(), compiler=compiler)
    assert [request.source for request in compiler.kernels] == ["x = 2\n", "x = 3\n"]


def test_a_failed_compilation_ahead_is_not_repeated(
    platform: Platform, student: User, waiting: str, make_executor: MakeExecutor
) -> None:
    def broken(_: Callable[[], None]) -> None:
        raise OSError(28, "No space left on device")

    (compiler := FakeCompiler()).on_kernels = broken
    executor = make_executor(compiler)
    assert [executor.compile_ahead(), executor.compile_ahead()] == [True, False]
    seen = see(platform, student, waiting)
    assert (seen.state, seen.attempt, seen.error) == (State.QUEUED, 0, "")


def test_a_stopping_worker_leaves_compiling_ahead_to_another(
    platform: Platform, waiting: str, make_executor: MakeExecutor, stopping: threading.Event
) -> None:
    def stop(interrupt: Callable[[], None]) -> None:
        interrupt()
        stopping.set()
        with pytest.raises(Cancelled):
            interrupt()
        raise Cancelled

    (compiler := FakeCompiler()).on_kernels = stop
    assert make_executor(compiler).compile_ahead()
    with platform.sessions() as session:
        assert session.query(ArtefactRow).count() == 0


def test_compiling_ahead_rests_without_boxes(
    platform: Platform, waiting: str, make_executor: MakeExecutor
) -> None:
    def boxless(_: Callable[[], None]) -> None:
        raise BoxUnavailable("The engine is away.")

    (compiler := FakeCompiler()).on_kernels = boxless
    executor = make_executor(compiler)
    with capture_logs() as logs:
        assert [executor.compile_ahead() for _ in range(4)] == [True, True, True, False]
    assert [line["event"] for line in logs] == ["no_kernels_compiled_ahead"]
    assert make_executor(FakeCompiler()).compile_ahead(), "another worker may"


def test_compiling_ahead_rests_without_torch(
    platform: Platform, waiting: str, send: Send, make_executor: MakeExecutor
) -> None:
    for number in range(3):
        send(f"y = {number}\n", filename="a.py")
    (compiler := FakeCompiler()).of_kernels = b""
    executor = make_executor(compiler)
    assert [executor.compile_ahead() for _ in range(4)] == [True, True, True, False]
    executor = make_executor(FakeCompiler())
    assert [executor.compile_ahead() for _ in range(2)] == [True, False], "what nothing came of is left alone"
