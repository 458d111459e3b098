"""The reasons shown for waiting."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.records import leases, workers
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.submission import WaitReason
from grader.service.accounts.accounts import User
from grader.service.operation import queues
from grader.service.operation.health import health
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.service.queues.builders import BOARD, CUDA, reason, register, report, take
from tests.service.world import body

pytestmark = pytest.mark.both_databases


class TestWords:
    def test_waiting_shows_place_or_missing_worker(self, small: Platform, student: User, other: User) -> None:
        first = submit(small, student, body()).id
        seen = get_submission(small, student, first).waits_for
        assert seen is not None
        assert (seen.reason, seen.since) == (WaitReason.NO_WORKER, None), "there never was one"
        assert "serves cpu" in seen.text
        register(small, "w")
        assert reason(small, student, first) is WaitReason.NEXT
        second = submit(small, other, body()).id
        third = submit(small, student, body()).id
        texts = [
            get_submission(small, user, public_id).waits_for
            for user, public_id in ((other, second), (student, third))
        ]
        assert [text.text for text in texts if text] == [
            "One submission is ahead of it.",
            "2 submissions are ahead of it.",
        ]
        with writing(small.sessions) as session:
            workers.leave(session, "w", utcnow())
        seen = get_submission(small, student, first).waits_for
        assert seen is not None
        assert seen.reason is WaitReason.NO_WORKER
        assert seen.since is not None, "since when the last one was heard of"
        take(small)
        assert get_submission(small, student, first).waits_for is None
        take(small, worker="v")
        register(small, "w")
        submit(small, other, body(source="x = 1\n"))
        seen = get_submission(small, student, third).waits_for
        assert seen is not None
        assert seen.text.startswith("It is next once its author's running submission ends;")

    def test_cuda_waits_for_a_compiler(self, small: Platform, student: User) -> None:
        register(small, "gpu", BOARD)
        sent = submit(small, student, body(**CUDA)).id
        assert reason(small, student, sent) is WaitReason.NO_COMPILER
        triton = submit(small, student, body(device=BOARD))
        assert (triton.position, reason(small, student, triton.id)) == (1, WaitReason.NEXT)
        assert get_submission(small, student, sent).position == 2
        register(small, "c", "", compiles=True)
        assert reason(small, student, sent) is WaitReason.NEXT

    def test_the_expected_wait_counts_active_workers(
        self, platform: Platform, student: User, other: User, staff: User
    ) -> None:
        for name in ("one", "two"):
            register(platform, name)
        submit(platform, student, body())
        held = take(platform)
        with writing(platform.sessions) as session:
            begun = session.get_one(SubmissionRow, held.id).claimed_at
            assert begun is not None
            assert leases.finish(session, held, report(), begun + timedelta(seconds=800))

        def waits() -> list[int]:
            """In hundreds of seconds, however long the test takes."""
            seen = [get_submission(platform, user, public_id) for user, public_id in sent]
            return [round(view.expected_wait_s / 100) for view in seen if view.expected_wait_s is not None]

        sent = [(student, submit(platform, student, body(source=f"x = {n}\n")).id) for n in range(4)]
        assert waits() == [0, 0, 8, 8], "two are free: they take one each, then one each when these are done"
        for worker in ("one", "two"):
            take(platform, worker=worker)
        assert waits() == [8, 8]
        queues.drain_worker(platform, staff, "two")
        assert waits() == [8, 16], "what the drained one has does not hold up the other"
        queues.drain_worker(platform, staff, "one")
        assert waits() == []
        assert reason(platform, student, sent[2][1]) is WaitReason.DRAINING

    def test_a_slow_submission_lengthens_the_wait(
        self, platform: Platform, student: User, other: User
    ) -> None:
        register(platform, "w")
        submit(platform, student, body())
        held = take(platform)
        with writing(platform.sessions) as session:
            begun = session.get_one(SubmissionRow, held.id).claimed_at
            assert begun is not None
            assert leases.finish(session, held, report(), begun + timedelta(seconds=8))
        submit(platform, student, body(source="while True: pass\n"))
        slow = take(platform)
        waiting = submit(platform, other, body()).id

        def after(seconds: float) -> tuple[float | None, bool]:
            with writing(platform.sessions) as session:
                session.get_one(SubmissionRow, slow.id).claimed_at = utcnow() - timedelta(seconds=seconds)
            seen = get_submission(platform, other, waiting)
            assert seen.waits_for is not None
            assert seen.expected_wait_s is not None
            return round(seen.expected_wait_s), "longer than usual" in seen.waits_for.text

        assert after(3) == (5, False)
        assert after(100) == (100, True), "no longer what it was at first"
        assert after(880) == (20, True), "its time limit ends it"

    def test_waiting_names_workers_without_sandboxes(self, small: Platform, student: User) -> None:
        register(small, "w")
        sent = submit(small, student, body()).id
        with writing(small.sessions) as session:
            workers.set_sandbox_fault(session, "w", "The Docker engine does not answer.")
        seen = get_submission(small, student, sent)
        assert seen.waits_for is not None
        assert (seen.waits_for.reason, seen.expected_wait_s) == (WaitReason.NO_SANDBOX, None)
        assert any("The Docker engine does not answer." in alert.text for alert in health(small).alerts)
        register(small, "v")
        assert reason(small, student, sent) is WaitReason.NEXT, "another one can"
