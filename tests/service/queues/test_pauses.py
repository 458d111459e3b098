"""Queues that staff have paused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from redis import Redis

from grader.errors import BadRequest, NotAllowed, NotFound
from grader.queue.sweeper import Swept, sweep
from grader.records.models import utcnow
from grader.schemas.submission import JudgingReason, State, WaitReason
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.service.queues.builders import BOARD, CUDA, judge, reason, register
from tests.service.world import body, make_settings

pytestmark = pytest.mark.both_databases


class TestPauses:
    def test_only_staff_manage_queues(self, platform: Platform, student: User) -> None:
        acts: list[Callable[[], object]] = [
            lambda: queues.pause_queue(platform, student, "cpu", ""),
            lambda: queues.resume_queue(platform, student, "cpu"),
            lambda: queues.list_workers(platform, student),
            lambda: queues.drain_worker(platform, student, "w"),
            lambda: queues.resume_worker(platform, student, "w"),
            lambda: queues.set_kind(platform, student, "scale", JudgingReason.COMPETITION),
            lambda: queues.get_kind(platform, student, "scale"),
        ]
        for act in acts:
            with pytest.raises(NotAllowed):
                act()
        assert queues.list_queues(platform).queues[0].name == "cpu"

    @pytest.mark.parametrize("name", ["h100", "", "run:cpu", "x" * 500])
    def test_an_unknown_queue_is_refused(self, platform: Platform, staff: User, name: str) -> None:
        for act in (
            lambda: queues.pause_queue(platform, staff, name, ""),
            lambda: queues.resume_queue(platform, staff, name),
        ):
            with pytest.raises(NotFound, match="no queue"):
                act()

    def test_a_reason_is_one_short_line(self, platform: Platform, staff: User) -> None:
        found = queues.pause_queue(platform, staff, "cpu", "  a new\n\tdriver ")
        paused = found.queues[0].paused
        assert paused is not None
        assert paused.reason == "a new driver"
        with pytest.raises(BadRequest):
            queues.pause_queue(platform, staff, "cpu", "x" * 501)

    @pytest.mark.parametrize("name", ["cpu", "all"])
    def test_a_paused_queue_accepts_submissions_with_the_reason(
        self, platform: Platform, student: User, staff: User, name: str
    ) -> None:
        register(platform, "w")
        before = utcnow() - timedelta(seconds=5)
        queues.pause_queue(platform, staff, name, "a new driver")
        sent = submit(platform, student, body())
        assert (sent.state, sent.position, sent.expected_wait_s) == (State.QUEUED, 1, None)
        assert sent.waits_for is not None
        assert sent.waits_for.reason is WaitReason.PAUSED
        assert sent.waits_for.text.endswith(": a new driver.")
        assert sent.waits_for.since is not None
        assert before < sent.waits_for.since <= utcnow() + timedelta(seconds=5)
        found = queues.list_queues(platform)
        assert (found.paused is not None) == (name == "all")
        assert (found.queues[0].waiting, found.queues[0].workers) == (1, 1)
        queues.resume_queue(platform, staff, name)
        assert reason(platform, student, sent.id) is WaitReason.NEXT
        judge(platform)

    def test_a_pause_is_an_alert_for_staff(self, platform: Platform, staff: User) -> None:
        queues.pause_queue(platform, staff, "compile", "a new toolkit")
        (alert,) = health(platform).alerts
        assert "The queue compile is paused since 20" in alert.text
        assert alert.text.endswith("UTC: a new toolkit")
        assert alert.hint == "grader admin queue resume compile"

    def test_wakeups_are_held_back_while_paused(self, platform: Platform, student: User, staff: User) -> None:
        for _ in range(3):
            submit(platform, student, body())
        queues.pause_queue(platform, staff, "cpu", "")
        client = Redis.from_url(platform.settings.queue_url)
        client.flushall()
        client.close()
        assert [sweep(platform), sweep(platform)] == [Swept(), Swept()]
        assert platform.wakeups.waiting("run:cpu") == 0
        queues.resume_queue(platform, staff, "cpu")
        assert platform.wakeups.waiting("run:cpu") == 3, "at once, not with the next sweep"

    def test_a_pause_survives_a_restart(
        self, platform: Platform, student: User, staff: User, tmp_path: Path, redis_url: str
    ) -> None:
        queues.pause_queue(platform, staff, "cpu", "")
        again = open_platform(make_settings(tmp_path, redis_url))
        assert reason(again, student, submit(again, student, body()).id) is WaitReason.PAUSED
        again.close()

    def test_compiling_can_be_paused_alone(self, small: Platform, student: User, staff: User) -> None:
        register(small, "c", "", compiles=True)
        register(small, "gpu", BOARD)
        queues.pause_queue(small, staff, "compile", "")
        sent = submit(small, student, body(**CUDA)).id
        seen = get_submission(small, student, sent).waits_for
        assert seen is not None
        assert seen.text == "Staff have paused compiling."
        assert sweep(small).wakeups == 0
        triton = submit(small, student, body(device=BOARD))
        assert (triton.position, reason(small, student, triton.id)) == (1, WaitReason.NEXT)
