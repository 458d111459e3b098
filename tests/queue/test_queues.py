"""Pauses, drained workers and cancellations with real workers: in this process, and as processes of their own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.queue.worker import run_compile_worker, run_worker
from grader.records import gpus, workers
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import ReportRow, SubmissionRow, utcnow
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.queue import WorkerState
from grader.schemas.report import Verdict
from grader.schemas.submission import State, SubmissionView, WaitReason
from grader.service import queues
from grader.service.accounts import User
from grader.service.cancel import cancel
from grader.service.health import health
from grader.service.platform import Platform
from grader.service.quotas import get_quotas
from grader.service.submissions import get_submission
from grader.service.submit import submit
from grader.settings import Settings
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, waits_for
from tests.queue.gpus import H200
from tests.service.world import body, make_settings, until

ROOT = Path(__file__).parent.parent.parent
BOARD = "h200"
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    return make_settings(tmp_path, redis_url, devices=f"cpu,{BOARD}", lock_dir=tmp_path / "locks")


@pytest.fixture
def start(tmp_path: Path, redis_url: str) -> Iterator[Start]:
    """Starts real worker processes; those that still run at the end are killed."""
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


def _see(platform: Platform, user: User, sent: str) -> SubmissionView:
    return get_submission(platform, user, sent)


def _until_state(platform: Platform, user: User, sent: str, state: State) -> SubmissionView:
    until(lambda: _see(platform, user, sent).state is state, f"{sent} is {state}", 60)
    return _see(platform, user, sent)


def _states(platform: Platform, staff: User) -> dict[str, WorkerState]:
    return {it.name: it.state for it in queues.list_workers(platform, staff).workers}


def _end(process: subprocess.Popen[bytes]) -> str:
    _, log = process.communicate(timeout=60)
    return log.decode()


class TestDraining:
    def test_it_finishes_what_it_has_takes_nothing_more_and_ends_well(
        self, platform: Platform, student: User, staff: User, start: Start, tmp_path: Path
    ) -> None:
        first, second = (submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2))
        worker = start("w")
        _until_state(platform, student, first, State.TESTING)
        queues.drain_worker(platform, staff, "w")
        assert _states(platform, staff)["w"] is WorkerState.DRAINING
        seen = _see(platform, student, second).waits_for
        assert seen is not None
        assert seen.reason is WaitReason.DRAINING
        (tmp_path / "gate").touch()
        log = _end(worker)
        assert worker.returncode == 0, log
        assert _see(platform, student, first).verdict is Verdict.ACCEPTED
        assert (_see(platform, student, second).state, _see(platform, student, second).attempt) == (
            State.QUEUED,
            0,
        )
        start("next")
        assert _until_state(platform, student, second, State.DONE).verdict is Verdict.ACCEPTED

    def test_an_idle_one_ends_soon(self, platform: Platform, staff: User, start: Start) -> None:
        worker = start("w")
        until(lambda: health(platform).parts["workers"].detail.startswith("cpu: 1"), "a worker", 60)
        queues.drain_worker(platform, staff, "w")
        log = _end(worker)
        assert worker.returncode == 0, log

    def test_started_again_it_waits_until_it_is_resumed(
        self, platform: Platform, student: User, staff: User, start: Start, tmp_path: Path
    ) -> None:
        (tmp_path / "gate").touch()
        with writing(platform.sessions) as session:
            workers.register(session, "w", "cpu", [], utcnow())
        queues.drain_worker(platform, staff, "w")
        sent = submit(platform, student, body()).id
        worker = start("w")
        assert worker.stderr is not None
        until(lambda: b"worker_is_drained" in worker.stderr.readline(), "it says so", 60)  # type: ignore[union-attr]
        assert worker.poll() is None
        assert _see(platform, student, sent).state is State.QUEUED
        queues.resume_worker(platform, staff, "w")
        _until_state(platform, student, sent, State.DONE)

    def test_resumed_in_time_it_goes_on(
        self, platform: Platform, student: User, staff: User, start: Start, tmp_path: Path
    ) -> None:
        first, second = (submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2))
        worker = start("w")
        _until_state(platform, student, first, State.TESTING)
        queues.drain_worker(platform, staff, "w")
        queues.resume_worker(platform, staff, "w")
        (tmp_path / "gate").touch()
        for sent in (first, second):
            _until_state(platform, student, sent, State.DONE)
        assert worker.poll() is None

    def test_between_ticket_and_submission_it_loses_neither(
        self,
        platform: Platform,
        student: User,
        staff: User,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Drained after it took the ticket, before its heart has heard of it."""
        monkeypatch.setattr("grader.queue.worker._start_sweeping", lambda *_, **__: None)
        sent = submit(platform, student, body()).id
        from rq import Queue

        dequeue = Queue.dequeue_any

        def taken(*args: object, **options: object) -> object:
            found = dequeue(*args, **options)
            queues.drain_worker(platform, staff, "w")
            return found

        monkeypatch.setattr(Queue, "dequeue_any", taken)
        judge = FakeJudge()
        run_worker(settings, "w", judge=judge, boxes=NoBoxes())
        assert judge.jobs == []
        assert _see(platform, student, sent).attempt == 0
        assert platform.tickets.waiting("run:cpu") == 1

    def test_one_that_only_compiles(self, platform: Platform, staff: User, start: Start) -> None:
        worker = start("c", "compile")
        until(lambda: "compile: 1" in health(platform).parts["workers"].detail, "a compile worker", 60)
        queues.drain_worker(platform, staff, "c")
        log = _end(worker)
        assert worker.returncode == 0, log


class TestPausing:
    def test_what_runs_goes_on_and_what_waits_stays(
        self, platform: Platform, student: User, staff: User, start: Start, tmp_path: Path
    ) -> None:
        first, second = (submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2))
        start("w")
        _until_state(platform, student, first, State.TESTING)
        queues.pause_queue(platform, staff, "cpu", "a new driver")
        third = submit(platform, student, body(source="x = 3\n")).id
        (tmp_path / "gate").touch()
        assert _until_state(platform, student, first, State.DONE).verdict is Verdict.ACCEPTED
        until(lambda: platform.tickets.waiting("run:cpu") == 0, "its tickets are used up", 60)
        for sent in (second, third):
            seen = _see(platform, student, sent)
            assert (seen.state, seen.attempt) == (State.QUEUED, 0)
        queues.resume_queue(platform, staff, "cpu")
        for sent in (second, third):
            _until_state(platform, student, sent, State.DONE)

    def test_a_paused_queue_keeps_nobody_busy(
        self,
        platform: Platform,
        student: User,
        staff: User,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The sweeper of this worker runs five times a second: no ticket is issued, so nothing is taken."""
        queues.pause_queue(platform, staff, "cpu", "")
        for number in range(3):
            submit(platform, student, body(source=f"x = {number}\n"))
        served: list[str] = []
        from grader.queue import worker
        from grader.queue.sweeper import sweep as real

        swept = threading.Event()
        rounds: list[object] = []

        def sweep(*args: object) -> object:
            rounds.append(real(*args))  # type: ignore[arg-type]
            if len(rounds) > 5:
                swept.set()
            return rounds[-1]

        enqueue = platform.tickets.enqueue
        monkeypatch.setattr("grader.queue.sweeper.sweep", sweep)
        monkeypatch.setattr(
            "grader.queue.tickets.Tickets.enqueue",
            lambda self, queue, count=1: (served.append(queue), enqueue(queue, count))[1],
        )
        stoppers: list[worker.Stopper] = []
        install = worker.Stopper.install
        monkeypatch.setattr(
            "grader.queue.worker.Stopper.install",
            lambda self, stack: (stoppers.append(self), install(self, stack)),
        )
        thread = threading.Thread(
            target=run_worker, args=(settings, "w"), kwargs={"judge": FakeJudge(), "boxes": NoBoxes()}
        )
        thread.start()
        try:
            assert swept.wait(60)
        finally:
            stoppers[0].stop()
            thread.join(60)
        assert served == []


@contextmanager
def _worker(run: Callable[[], None], platform: Platform, name: str, staff: User) -> Iterator[None]:
    """A worker in a thread of this process; drained at the end."""
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        with writing(platform.sessions) as session:
            workers.drain(session, name, utcnow())
        thread.join(60)
        assert not thread.is_alive()


class TestCancelling:
    """At each state: it ends soon, its worker is free for the next, and the place and the quota are free, too."""

    def _ends(self, platform: Platform, student: User, sent: str, attempts: int) -> None:
        assert cancel(platform, student, sent).id == sent
        seen = _until_state(platform, student, sent, State.CANCELLED)
        assert (seen.verdict, seen.position, seen.finished_at is not None) == (None, None, True)
        assert cancel(platform, student, sent).state is State.CANCELLED, "twice is no error"
        found = get_quotas(platform, student, "scale")
        assert (found.waiting.used, found.submissions.used) == (0, attempts)
        with platform.sessions() as session:
            assert session.query(ReportRow).count() == 0
            row = session.query(SubmissionRow).one()
            assert (row.worker, row.lease_until) == (None, None)

    def test_while_it_is_queued(self, platform: Platform, student: User) -> None:
        self._ends(platform, student, submit(platform, student, body()).id, 0)

    @pytest.mark.parametrize(
        ("state", "attempts"), [(State.COMPILING, 0), (State.TESTING, 1), (State.TIMING, 1)]
    )
    def test_while_it_is_judged(
        self,
        platform: Platform,
        student: User,
        staff: User,
        settings: Settings,
        tmp_path: Path,
        state: State,
        attempts: int,
    ) -> None:
        judge = FakeJudge(waits_for(tmp_path / "never", state), waits_for(tmp_path, state))
        sent = submit(platform, student, body()).id
        run = lambda: run_worker(settings, "w", judge=judge, boxes=NoBoxes())  # noqa: E731
        with _worker(run, platform, "w", staff):
            _until_state(platform, student, sent, state)
            self._ends(platform, student, sent, attempts)
            after = submit(platform, student, body()).id
            assert _until_state(platform, student, after, State.DONE).verdict is Verdict.ACCEPTED

    def _know_the_gpu(self, platform: Platform) -> None:
        with writing(platform.sessions) as session:
            gpus.register(session, GpuRecord(H200.uuid, BOARD, H200.name, "sm_90a"), utcnow())

    def test_while_it_is_compiled_ahead(
        self, platform: Platform, student: User, staff: User, settings: Settings
    ) -> None:
        self._know_the_gpu(platform)
        at_work = threading.Event()

        def act(interrupt: Callable[[], None]) -> CompileResult:
            at_work.set()
            while True:
                interrupt()
                threading.Event().wait(0.02)

        sent = submit(platform, student, body(source="// x\n", filename="a.cu", device=BOARD)).id
        run = lambda: run_compile_worker(settings, "c", compiler=FakeCompiler(act), boxes=NoBoxes())  # noqa: E731
        with _worker(run, platform, "c", staff):
            assert at_work.wait(60)
            assert _see(platform, student, sent).state is State.COMPILING
            self._ends(platform, student, sent, 0)

    def test_while_it_is_compiled_and_waits(
        self, platform: Platform, student: User, staff: User, settings: Settings
    ) -> None:
        self._know_the_gpu(platform)
        sent = submit(platform, student, body(source="// x\n", filename="a.cu", device=BOARD)).id
        run = lambda: run_compile_worker(settings, "c", compiler=FakeCompiler(), boxes=NoBoxes())  # noqa: E731
        with _worker(run, platform, "c", staff):
            _until_state(platform, student, sent, State.WAITING)
            self._ends(platform, student, sent, 0)

    def test_of_a_worker_that_died_it_ends_at_once(self, platform: Platform, student: User) -> None:
        """Its lease has run out, and no sweeper has come by yet."""
        from datetime import timedelta

        from grader.records import claims
        from grader.schemas.report import Language

        sent = submit(platform, student, body()).id
        with writing(platform.sessions) as session:
            assert claims.claim(session, "cpu", list(Language), "w", utcnow() - timedelta(minutes=1), 30.0)
        assert cancel(platform, student, sent).state is State.CANCELLED
