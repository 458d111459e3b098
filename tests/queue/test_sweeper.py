from __future__ import annotations

from datetime import timedelta

import pytest
from redis import Redis

from grader.languages import Language
from grader.queue.sweeper import Swept, sweep
from grader.records import claims, workers
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.wakeups import WakeUps
from tests.service.world import body

pytestmark = pytest.mark.both_databases


def _take(platform: Platform, ago_s: float = 0.0) -> claims.Claim:
    with writing(platform.sessions) as session:
        now = utcnow() - timedelta(seconds=ago_s)
        held = claims.claim(
            session, claims.ClaimRequest("cpu", list(Language), "w", now, platform.settings.lease_s)
        ).held
    assert held is not None
    return held


def test_wakeups_are_reissued_after_a_wiped_redis(platform: Platform, student: User, redis_url: str) -> None:
    for _ in range(3):
        submit(platform, student, body())
    client = Redis.from_url(redis_url)
    client.flushall()
    client.close()
    assert sweep(platform) == Swept(wakeups=3)
    assert platform.wakeups.waiting("run:cpu") == 3
    assert sweep(platform) == Swept()


def test_an_expired_lease_is_reclaimed_with_a_wakeup(platform: Platform, student: User) -> None:
    sent = submit(platform, student, body()).id
    Redis.from_url(platform.settings.queue_url).flushall()
    _take(platform, ago_s=60)
    assert sweep(platform) == Swept(reclaimed=1, wakeups=1)
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.attempt) == (State.QUEUED, 1)


def test_a_valid_lease_is_untouched(platform: Platform, student: User) -> None:
    submit(platform, student, body())
    _take(platform)
    assert sweep(platform) == Swept()


def test_a_submission_that_kills_three_workers_fails(platform: Platform, student: User) -> None:
    sent = submit(platform, student, body()).id
    for _ in range(platform.settings.attempts):
        _take(platform, ago_s=60)
        sweep(platform)
    seen = get_submission(platform, student, sent)
    assert (seen.state, seen.verdict) == (State.FAILED, Verdict.INTERNAL_ERROR)
    assert "stopped answering" in seen.error


def test_a_cancelled_submission_of_a_dead_worker_ends_cancelled(platform: Platform, student: User) -> None:
    sent = submit(platform, student, body()).id
    held = _take(platform, ago_s=-60)
    assert cancel(platform, student, sent).state is State.COMPILING, (
        "its worker may be alive: it is asked to end it"
    )
    with writing(platform.sessions) as session:
        session.get_one(SubmissionRow, held.id).lease_until = utcnow() - timedelta(seconds=60)
    assert sweep(platform).reclaimed == 1
    assert get_submission(platform, student, sent).state is State.CANCELLED


def test_silent_workers_are_marked_and_boxes_reaped(platform: Platform) -> None:
    class Boxes:
        def reap(self) -> int:
            return 2

    with writing(platform.sessions) as session:
        workers.register(session, "old", "cpu", [Language.TRITON], utcnow() - timedelta(minutes=5))
        workers.register(session, "new", "cpu", [Language.TRITON], utcnow())
    assert sweep(platform, Boxes()) == Swept(dead_workers=1, boxes=2)


def test_a_failing_part_of_the_sweep_does_not_stop_the_others(platform: Platform, student: User) -> None:
    class Boxes:
        def reap(self) -> int:
            raise OSError("no engine")

    submit(platform, student, body())
    _take(platform, ago_s=60)
    away = WakeUps(f"unix://{platform.settings.data_dir}/none.sock")
    lame = type(platform)(platform.settings, platform.catalogue, platform.sessions, away, platform.engine)
    assert sweep(lame, Boxes()) == Swept(reclaimed=1)
