"""Signals at critical moments, in this very process, over a real Redis."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from grader.errors import JudgeFailure
from grader.queue.compile_executor import CompileExecutor
from grader.queue.loop import Stopper, take_wakeups
from grader.queue.stop_flag import StopFlag
from grader.queue.worker import run_compile_worker, run_worker
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from grader.wakeups import COMPILE, KERNELS, take
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes
from tests.service.world import body

# An idle worker checks every second whether to stop; the rest is for a busy machine.
_AT_ONCE_S = 4.0


class _Hung(BaseException):
    pass


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """A hanging main thread cannot fail a test: this wakes it."""

    def wake(*_: object) -> None:
        raise _Hung

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def no_sweeper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing wake-ups stay missing."""
    monkeypatch.setattr("grader.queue.worker._start_sweeping", lambda *_, **__: None)


def _signal_once(number: signal.Signals = signal.SIGTERM) -> Callable[[], float]:
    """Sends the signal to this process once; returns its time, after its handler has run."""
    sent: list[float] = []

    def send() -> float:
        if not sent:
            sent.append(time.monotonic())
            os.kill(os.getpid(), number)
        return sent[0]

    return send


def test_a_signal_during_a_client_finalizer_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, settings: Settings
) -> None:
    """The client's pipelines have finalizers that swallow any exception, so one from the signal's handler
    would be lost.
    """
    send, served = _signal_once(), threading.Event()

    def serve() -> None:
        served.set()

    def drop_a_pipeline_first(connection: Any, *args: Any) -> Any:
        if served.is_set():
            pipeline: Any = connection.pipeline()
            pipeline.reset = send
            del pipeline
        return take(connection, *args)

    monkeypatch.setattr("grader.queue.loop.take", drop_a_pipeline_first)
    platform.wakeups.enqueue(COMPILE)
    stopper = Stopper()
    with ExitStack() as stack:
        stopper.install(stack)
        take_wakeups(settings.queue_url, {COMPILE: serve}, False, stopper)
    assert stopper.event.is_set()
    assert time.monotonic() - send() < _AT_ONCE_S


@pytest.mark.usefixtures("no_sweeper")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_between_wakeup_and_claim_loses_neither(
    monkeypatch: pytest.MonkeyPatch,
    platform: Platform,
    student: User,
    settings: Settings,
    number: signal.Signals,
) -> None:
    sent = submit(platform, student, body()).id
    send = _signal_once(number)

    def taken(*args: Any) -> Any:
        found = take(*args)
        assert found is not None
        send()
        return found

    monkeypatch.setattr("grader.queue.loop.take", taken)
    judge = FakeJudge()
    run_worker(settings, "w", judge=judge, boxes=NoBoxes())
    assert time.monotonic() - send() < _AT_ONCE_S
    assert judge.jobs == []
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.attempt) == (State.QUEUED, 0)
    assert platform.wakeups.waiting("run:cpu") == 1, "its wake-up waits for the next worker"


@pytest.mark.usefixtures("no_sweeper")
def test_a_signalled_compile_worker_returns_its_wakeup(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, settings: Settings
) -> None:
    send = _signal_once()
    monkeypatch.setattr("grader.queue.loop.take", lambda *args: (take(*args), send())[0])
    platform.wakeups.enqueue(COMPILE)
    run_compile_worker(settings, "c", compiler=FakeCompiler(), boxes=NoBoxes())
    assert platform.wakeups.waiting(COMPILE) == 1


def test_a_signal_ends_a_worker_without_redis(settings: Settings) -> None:
    stopper = Stopper()
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    began = time.monotonic()
    with ExitStack() as stack:
        stopper.install(stack)
        take_wakeups("unix:///nowhere/redis.sock", {COMPILE: lambda: None}, False, stopper)
    assert 1.0 < time.monotonic() - began < 1.5 + _AT_ONCE_S


def test_a_signal_during_an_event_lock_does_not_deadlock() -> None:
    """This happens for a moment at the start of every wait, and when one signal follows another at once."""
    stopper = Stopper()
    with ExitStack() as stack:
        stopper.install(stack)
        event: Any = stopper.event  # only this test knows of the class's lock
        with event._cond:
            os.kill(os.getpid(), signal.SIGTERM)
    assert stopper.event.is_set()


def test_the_stop_flag_can_be_waited_for() -> None:
    asked = StopFlag()
    began = time.monotonic()
    assert not asked.wait(0.12)
    assert 0.1 < time.monotonic() - began < 2
    threading.Timer(0.1, asked.set).start()
    assert asked.wait()
    asked.clear()
    assert not asked.wait(0)


@pytest.mark.usefixtures("no_sweeper")
def test_a_failure_while_stopping_is_not_counted(
    platform: Platform, student: User, settings: Settings
) -> None:
    """Stopping a service stops all its processes: the judge may be gone before its worker learns of it."""

    def dies(*_: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        raise JudgeFailure("The judge process ended.")

    sent = submit(platform, student, body()).id
    run_worker(settings, "w", judge=FakeJudge(dies), boxes=NoBoxes())
    assert get_submission(platform, student, sent).state is State.QUEUED
    assert platform.wakeups.waiting("run:cpu") == 1
    with platform.sessions() as session:
        assert session.query(SubmissionRow.failures).scalar() == 0


@pytest.mark.usefixtures("no_sweeper")
@pytest.mark.parametrize("compilers", [0, 1])
def test_a_device_worker_leaves_compiling_to_idle_compilers(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, settings: Settings, compilers: int
) -> None:
    """Protects submissions to a device against waiting until its idle worker has compiled somebody else's source."""
    for number in range(compilers):
        with writing(platform.sessions) as session:
            workers.register(session, f"c{number}", "", [], utcnow() + timedelta(minutes=5), compiles=True)
    send = _signal_once()
    asked: list[tuple[bool, bool]] = []

    def taken(_: Any, queues: list[str], wait_s: int | None) -> None:
        asked.append((COMPILE in queues, wait_s is None))
        if len(asked) == 2:
            send()

    monkeypatch.setattr("grader.queue.loop.take", taken)
    run_worker(settings, "w", judge=FakeJudge(), boxes=NoBoxes(), compiler=FakeCompiler())
    assert asked == ([(False, False), (True, True)] if compilers else [(True, False)] * 2)


@pytest.mark.usefixtures("no_sweeper")
def test_a_resting_compile_worker_takes_no_kernels_wakeup(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, settings: Settings
) -> None:
    """Protects kernels that another host could compile against a host whose boxes lack torch."""
    monkeypatch.setattr(CompileExecutor, "rests", True)
    send = _signal_once()
    asked: list[list[str]] = []

    def taken(connection: Any, queues: list[str], _: int | None) -> Any:
        asked.append(queues)
        if len(asked) == 3:
            send()
            return None
        return take(connection, queues, None)

    monkeypatch.setattr("grader.queue.loop.take", taken)
    platform.wakeups.hint(KERNELS)
    run_compile_worker(settings, "c", compiler=FakeCompiler(), boxes=NoBoxes())
    assert asked == [[COMPILE], [KERNELS], [COMPILE]]
    assert platform.wakeups.waiting(KERNELS) == 1
