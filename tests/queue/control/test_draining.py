"""Workers that take no more submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.judge.job import Outcome
from grader.queue.loop import Stopper
from grader.queue.worker import run_worker
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.queue import WorkerState
from grader.schemas.report import Verdict
from grader.schemas.submission import State, WaitReason
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.operation.health import health
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from grader.settings import Settings
from grader.wakeups import take
from tests.queue.control.builders import Start, end, see, states, until_state
from tests.queue.fakes import FakeJudge, NoBoxes, judged
from tests.service.world import body, until


class TestDraining:
    def test_a_drained_worker_finishes_its_submission_and_exits(
        self, platform: Platform, student: User, staff: User, start: Start, tmp_path: Path
    ) -> None:
        first, second = (submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2))
        worker = start("w")
        until_state(platform, student, first, State.TESTING)
        queues.drain_worker(platform, staff, "w")
        assert states(platform, staff)["w"] is WorkerState.DRAINING
        seen = see(platform, student, second).waits_for
        assert seen is not None
        assert seen.reason is WaitReason.DRAINING
        (tmp_path / "gate").touch()
        log = end(worker)
        assert worker.returncode == 0, log
        assert see(platform, student, first).verdict is Verdict.ACCEPTED
        assert (see(platform, student, second).state, see(platform, student, second).attempt) == (
            State.QUEUED,
            0,
        )
        start("next")
        assert until_state(platform, student, second, State.DONE).verdict is Verdict.ACCEPTED

    def test_a_drained_idle_worker_exits_soon(self, platform: Platform, staff: User, start: Start) -> None:
        worker = start("w")
        until(lambda: health(platform).parts["workers"].detail.startswith("cpu: 1"), "a worker", 60)
        queues.drain_worker(platform, staff, "w")
        log = end(worker)
        assert worker.returncode == 0, log

    def test_a_restarted_drained_worker_waits_until_resumed(
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
        assert see(platform, student, sent).state is State.QUEUED
        queues.resume_worker(platform, staff, "w")
        until_state(platform, student, sent, State.DONE)

    def test_a_worker_resumed_in_time_continues(
        self, platform: Platform, student: User, staff: User, start: Start, tmp_path: Path
    ) -> None:
        first, second = (submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2))
        worker = start("w")
        until_state(platform, student, first, State.TESTING)
        queues.drain_worker(platform, staff, "w")
        queues.resume_worker(platform, staff, "w")
        (tmp_path / "gate").touch()
        for sent in (first, second):
            until_state(platform, student, sent, State.DONE)
        assert worker.poll() is None

    def test_a_worker_resumed_after_noticing_the_drain_continues(
        self,
        platform: Platform,
        student: User,
        staff: User,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """And before its heartbeat, which is stopped here, learned of the resuming."""
        monkeypatch.setattr("grader.queue.heartbeat.Heartbeat._run", lambda _: None)
        stopper = Stopper()
        monkeypatch.setattr("grader.queue.worker.Stopper", lambda: stopper)
        sent = [submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2)]

        def drained_and_resumed(*given: Any) -> Outcome:
            queues.drain_worker(platform, staff, "w")
            stopper.drain(True)
            queues.resume_worker(platform, staff, "w")
            return judged()(*given)

        def drained(*given: Any) -> Outcome:
            queues.drain_worker(platform, staff, "w")
            stopper.drain(True)
            return judged()(*given)

        judge = FakeJudge(drained_and_resumed, drained)
        run_worker(settings, "w", judge=judge, boxes=NoBoxes())
        assert [see(platform, student, public_id).state for public_id in sent] == [State.DONE, State.DONE]

    def test_a_drain_between_wakeup_and_claim_loses_neither(
        self,
        platform: Platform,
        student: User,
        staff: User,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Drained after it took the wake-up, before its heartbeat learned of it."""
        monkeypatch.setattr("grader.queue.worker._start_sweeping", lambda *_, **__: None)
        sent = submit(platform, student, body()).id

        def taken(*args: Any) -> object:
            found = take(*args)
            queues.drain_worker(platform, staff, "w")
            return found

        monkeypatch.setattr("grader.queue.loop.take", taken)
        judge = FakeJudge()
        run_worker(settings, "w", judge=judge, boxes=NoBoxes())
        assert judge.jobs == []
        assert see(platform, student, sent).attempt == 0
        assert platform.wakeups.waiting("run:cpu") == 1

    def test_a_compile_worker_is_drained(self, platform: Platform, staff: User, start: Start) -> None:
        worker = start("c", "compile")
        until(lambda: "compile: 1" in health(platform).parts["workers"].detail, "a compile worker", 60)
        queues.drain_worker(platform, staff, "c")
        log = end(worker)
        assert worker.returncode == 0, log
