"""Paused queues hand nothing out."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from grader.queue.worker import run_worker
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.control.builders import Start, see, until_state, worker
from tests.queue.fakes import FakeJudge, NoBoxes
from tests.service.world import body, until


class TestPausing:
    def test_a_paused_queue_finishes_running_and_keeps_waiting_submissions(
        self, platform: Platform, student: User, staff: User, start: Start, tmp_path: Path
    ) -> None:
        first, second = (submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2))
        start("w")
        until_state(platform, student, first, State.TESTING)
        queues.pause_queue(platform, staff, "cpu", "a new driver")
        third = submit(platform, student, body(source="x = 3\n")).id
        (tmp_path / "gate").touch()
        assert until_state(platform, student, first, State.DONE).verdict is Verdict.ACCEPTED
        until(lambda: platform.wakeups.waiting("run:cpu") == 0, "its wake-ups are used up", 60)
        for sent in (second, third):
            seen = see(platform, student, sent)
            assert (seen.state, seen.attempt) == (State.QUEUED, 0)
        queues.resume_queue(platform, staff, "cpu")
        for sent in (second, third):
            until_state(platform, student, sent, State.DONE)

    def test_a_paused_queue_does_not_keep_workers_busy(
        self,
        platform: Platform,
        student: User,
        staff: User,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The sweeper of this worker runs five times a second: no wake-up is issued, so nothing is taken."""
        queues.pause_queue(platform, staff, "cpu", "")
        for number in range(3):
            submit(platform, student, body(source=f"x = {number}\n"))
        served: list[str] = []
        from grader.queue import worker
        from grader.queue.sweeper import sweep as real

        swept = threading.Event()
        rounds: list[object] = []

        def sweep(*args: Any) -> object:
            rounds.append(real(*args))
            if len(rounds) > 5:
                swept.set()
            return rounds[-1]

        enqueue = platform.wakeups.enqueue
        monkeypatch.setattr("grader.queue.sweeper.sweep", sweep)
        monkeypatch.setattr(
            "grader.wakeups.WakeUps.enqueue",
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
