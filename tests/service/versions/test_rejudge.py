"""Judging again, on every database: permissions, the submissions, and a comparison before it is shown."""

from __future__ import annotations

import pytest

from grader.errors import Conflict
from grader.languages import Language
from grader.records import leases
from grader.records.claims import ClaimRequest, claim
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.challenges import versions
from grader.service.challenges.rejudge import compare, rejudge
from grader.service.platform import Platform
from grader.service.submissions.submissions import list_submissions
from grader.service.submissions.submit import submit
from tests.service.versions.scenes import SLUG, at_once, judge, judged, raise_version
from tests.service.world import body

pytestmark = pytest.mark.both_databases


def test_a_rejudge_is_no_attempt(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    for _ in range(4):
        view = submit(platform, student, body())
    assert view.position == 4, "behind its author's own, ahead of what is judged again"
    listed = list_submissions(platform, student)
    assert listed.total == 5
    assert len(listed.submissions) == 5
    assert list_submissions(platform, staff, everyone=True).total == 5


def test_ordering_twice_orders_once(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    judged(platform, student, None)
    raise_version(platform)
    assert rejudge(platform, staff, SLUG).queued == 2
    again = rejudge(platform, staff, SLUG)
    assert (again.queued, again.waiting) == (0, 2)


def test_a_ranked_rejudge_covers_board_entries_only(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    judged(platform, student, 10.0)
    judged(platform, student, 12.0)
    judged(platform, student, None)
    judged(platform, other, 9.0)
    raise_version(platform)
    assert rejudge(platform, staff, SLUG, ranked=True).queued == 2


def test_entries_without_rank_are_left_out_of_rank_changes(
    platform: Platform, student: User, staff: User
) -> None:
    judged(platform, staff, 5.0)
    judged(platform, student, 10.0)
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    for _ in range(2):
        judge(platform, 7.0)
    (own,) = compare(platform, staff, SLUG).ranks
    assert (own.user, own.before, own.after) == (student.name, 1, 1)


def test_versions_are_compared_before_publication(
    platform: Platform, student: User, other: User, staff: User
) -> None:
    judged(platform, student, 10.0)
    judged(platform, student, None)
    judged(platform, other, 20.0)
    with pytest.raises(Conflict, match="no other version of"):
        compare(platform, staff, SLUG)
    raise_version(platform)
    before = compare(platform, staff, SLUG)
    assert (before.judged, before.not_ordered, before.before, before.after) == (0, 3, 1, 2)
    rejudge(platform, staff, SLUG)
    judge(platform, 30.0)  # authors take turns, and bob had fewer lately
    judge(platform, None)
    found = compare(platform, staff, SLUG)
    assert (found.judged, found.waiting, found.failed, found.not_ordered) == (2, 1, 0, 0)
    judge(platform, 11.0)
    found = compare(platform, staff, SLUG)
    assert (found.judged, found.shown, found.median_time_ratio) == (3, 1, 1.5)
    assert [
        (
            submission.user,
            submission.before.verdict,
            submission.after and submission.after.verdict,
            submission.verdict_changed,
            submission.time_ratio,
        )
        for submission in sorted(
            found.submissions, key=lambda change: (change.user, change.before.verdict or "")
        )
    ] == [
        ("ada", Verdict.ACCEPTED, Verdict.WRONG_ANSWER, True, None),
        ("ada", Verdict.WRONG_ANSWER, Verdict.ACCEPTED, True, None),
        ("bob", Verdict.ACCEPTED, Verdict.ACCEPTED, False, 1.5),
    ]
    assert [submission.verdict_changed for submission in found.submissions] == [True, True, False]
    assert {rank.user: (rank.before, rank.after) for rank in found.ranks} == {"ada": (1, 1), "bob": (2, 2)}
    versions.publish(platform, staff, SLUG)
    later = compare(platform, staff, SLUG)
    assert (later.before, later.after, later.shown) == (1, 2, 2), "it can be looked up afterwards"


def test_our_failures_are_reported_and_ordered_again(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    raise_version(platform)
    rejudge(platform, staff, SLUG)
    with writing(platform.sessions) as session:
        held = claim(session, ClaimRequest("cpu", [Language.TRITON], "test", utcnow(), 60.0)).held
        assert held is not None
        state = leases.give_back(session, held.id, held.attempt, utcnow(), error="a full disk", cap=1)
        assert state is State.FAILED
    assert compare(platform, staff, SLUG).failed == 1
    assert rejudge(platform, staff, SLUG).queued == 1
    judge(platform, 5.0)
    found = compare(platform, staff, SLUG)
    assert (found.failed, found.judged) == (0, 1)


def test_simultaneous_orders_order_once(platform: Platform, student: User, staff: User) -> None:
    judged(platform, student)
    judged(platform, student)
    raise_version(platform)
    assert sum(order.queued for order in at_once(lambda: rejudge(platform, staff, SLUG))) == 2
