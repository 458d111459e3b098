"""Our failures, cancellations, dead compilers and lost wake-ups."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from grader.errors import BoxUnavailable
from grader.languages import Language
from grader.queue.sweeper import Swept, sweep
from grader.records import claims, workers
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.operation.health import health
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from tests.queue.compiling.builders import BOARD, MakeExecutor, Send, see, state, wakeups
from tests.queue.fakes import FakeCompiler, compiled
from tests.service.world import until


def test_our_failures_are_retried_and_cost_nothing(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    def full(_: Callable[[], None]) -> CompileResult:
        raise OSError(28, "/var/secret")

    def broken(_: Callable[[], None]) -> CompileResult:
        raise BoxUnavailable("the compiler's box failed: the process was ended by signal 9")

    sent = send()
    executor = make_executor(FakeCompiler(broken, full))
    assert executor.serve_one()
    seen = see(platform, student, sent)
    assert (seen.state, seen.verdict) == (State.QUEUED, None)
    assert "signal 9" in seen.error
    assert wakeups(platform) == (2, 0)
    assert executor.serve_one()
    assert "/var/secret" not in see(platform, student, sent).error
    assert executor.serve_one()
    seen = see(platform, student, sent)
    assert (seen.state, seen.attempt, seen.error) == (State.WAITING, 3, "")


def test_three_failures_of_ours_end_the_submission_as_failed(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    def broken(_: Callable[[], None]) -> CompileResult:
        raise BoxUnavailable("the engine does not answer")

    sent = send()
    executor = make_executor(FakeCompiler(*[broken] * 4))
    assert [executor.serve_one() for _ in range(4)] == [True, True, True, False]
    seen = see(platform, student, sent)
    assert (seen.state, seen.verdict) == (State.FAILED, Verdict.INTERNAL_ERROR)
    assert seen.error == "the engine does not answer"


def _patient(interrupt: Callable[[], None]) -> CompileResult:
    while True:
        interrupt()
        time.sleep(0.02)


def test_a_submission_is_cancelled_while_compiling(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    sent = send()
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(make_executor(FakeCompiler(_patient)).serve_one)
        until(lambda: state(platform, student, sent) is State.COMPILING, "compiling")
        assert see(platform, student, sent).position == 1
        cancel(platform, student, sent)
        until(lambda: state(platform, student, sent) is State.CANCELLED, "cancelled", 5.0)
        assert served.result(5.0)


def test_a_compiled_submission_is_cancelled_while_waiting(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    sent = send()
    make_executor(FakeCompiler()).serve_one()
    assert see(platform, student, sent).position == 1
    assert cancel(platform, student, sent).state is State.CANCELLED
    with writing(platform.sessions) as session:
        assert (
            claims.claim(session, claims.ClaimRequest(BOARD, list(Language), "r", utcnow(), 30.0)).held
            is None
        )


def test_a_submission_cancelled_at_the_end_of_compiling_is_not_handed_on(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    sent = send()

    def late(_: Callable[[], None]) -> CompileResult:
        cancel(platform, student, sent)
        return compiled()

    make_executor(FakeCompiler(late)).serve_one()
    assert state(platform, student, sent) is State.CANCELLED
    assert wakeups(platform)[1] == 0


def test_a_stopping_worker_returns_its_submission_uncounted(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor, stopping: threading.Event
) -> None:
    sent = send()
    executor = make_executor(FakeCompiler(_patient))
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(executor.serve_one)
        until(lambda: state(platform, student, sent) is State.COMPILING, "compiling")
        stopping.set()
        assert served.result(5.0)
    assert state(platform, student, sent) is State.QUEUED
    assert not executor.serve_one()
    with platform.sessions() as session:
        assert session.query(SubmissionRow.failures).scalar() == 0


def test_a_dead_compiler_is_noticed_and_its_wakeup_issued_again(
    platform: Platform, student: User, send: Send
) -> None:
    sent = send()
    platform.wakeups.connection.flushall()
    assert sweep(platform) == Swept(wakeups=1)
    platform.wakeups.connection.flushall()
    with writing(platform.sessions) as session:
        ago = utcnow() - timedelta(seconds=60)
        assert claims.claim_to_compile(session, [BOARD], "dead", ago, platform.settings.lease_s)
    assert sweep(platform) == Swept(reclaimed=1, wakeups=1)
    assert state(platform, student, sent) is State.QUEUED
    assert wakeups(platform) == (1, 0)


def test_wakeups_of_waiting_submissions_are_reissued_after_a_wiped_redis(
    platform: Platform, send: Send, make_executor: MakeExecutor
) -> None:
    send()
    make_executor(FakeCompiler()).serve_one()
    platform.wakeups.connection.flushall()
    assert sweep(platform) == Swept(wakeups=1)
    assert wakeups(platform) == (0, 1)


def test_a_missing_compiler_is_an_alert(platform: Platform, send: Send) -> None:
    send()
    with writing(platform.sessions) as session:
        workers.register(session, "w", BOARD, list(Language), utcnow(), "GPU-1")
    (alert,) = health(platform).alerts
    assert "no worker has a CUDA compiler" in alert.text
    with writing(platform.sessions) as session:
        workers.register(session, "c", "", [Language.CUDA], utcnow(), compiles=True)
    seen = health(platform)
    assert seen.alerts == []
    assert "compile: 1 alive" in seen.parts["workers"].detail
    assert "" not in seen.devices
