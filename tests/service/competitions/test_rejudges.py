"""What staff have judged again, and what a competition's board makes of it: while it runs, frozen, and after the
results."""

from __future__ import annotations

import pytest

from grader.records import rejudges
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.competition import BoardKind
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.competitions import finals
from grader.service.competitions.competition_boards import board
from grader.service.platform import Platform
from tests.service.competitions.builders import elapse, enter, hand_in, judge, make

pytestmark = pytest.mark.both_databases


@pytest.fixture
def cup(platform: Platform, staff: User, student: User, other: User) -> str:
    """One where ada has 200 us and bob 300 us; ada's submission."""
    make(platform, staff)
    for user in (student, other):
        enter(platform, user)
    hand_in(platform, other, 300.0)
    return hand_in(platform, student, 200.0)


def again(platform: Platform, public_id: str, version: int = 1) -> str:
    """Have it judged again; the id of what will be its judgement."""
    with writing(platform.sessions) as session:
        first = session.query(SubmissionRow).filter_by(public_id=public_id).one()
        row = rejudges.again(first, version)
        session.add(row)
        session.flush()
        return row.public_id


def seen(platform: Platform, user: User, kind: BoardKind | None = None) -> list[tuple[str, float | None]]:
    return [(it.team, it.score) for it in board(platform, user, "cup", kind=kind).rows]


def test_a_judgement_stands_until_the_next_one_is_there(platform: Platform, student: User, cup: str) -> None:
    second = again(platform, cup)
    assert seen(platform, student) == [("ada", 200.0), ("bob", 300.0)]
    judge(platform, second, 400.0)
    assert seen(platform, student) == [("bob", 300.0), ("ada", 400.0)]
    assert [it.challenges[0].tries for it in board(platform, student, "cup").rows] == [1, 1], (
        "it is no attempt"
    )
    third = again(platform, cup)
    with writing(platform.sessions) as session:
        row = session.query(SubmissionRow).filter_by(public_id=third).one()
        row.state, row.verdict = State.FAILED, Verdict.INTERNAL_ERROR
    assert seen(platform, student) == [("bob", 300.0), ("ada", 400.0)], "our failure takes nothing away"


def test_a_new_version_counts_once_all_that_was_ordered_is_judged(
    platform: Platform, student: User, other: User, cup: str
) -> None:
    theirs = board(platform, other, "cup").rows[1].challenges[0].submission
    assert theirs is not None
    mine, other_one = again(platform, cup, 2), again(platform, theirs, 2)
    judge(platform, mine, 500.0)
    assert seen(platform, student) == [("ada", 200.0), ("bob", 300.0)]
    judge(platform, other_one, 450.0)
    assert seen(platform, student) == [("bob", 450.0), ("ada", 500.0)]


def test_frozen_it_shows_what_was_received_before(
    platform: Platform, staff: User, student: User, other: User, cup: str
) -> None:
    elapse(platform, minutes=40)
    late = hand_in(platform, other, 100.0)
    judge(platform, again(platform, cup), 400.0)
    judge(platform, again(platform, late), 90.0)
    assert seen(platform, student) == [("bob", 300.0), ("ada", 400.0)]
    assert seen(platform, staff, BoardKind.LIVE) == [("bob", 90.0), ("ada", 400.0)]


def test_after_the_results_it_changes_nothing_of_them(
    platform: Platform, staff: User, student: User, cup: str
) -> None:
    judge(platform, again(platform, cup), 150.0)
    elapse(platform, hours=2)
    finals.publish_results(platform, staff, "cup")
    results = [("ada", 150.0), ("bob", 300.0)]
    assert seen(platform, student) == results
    judge(platform, again(platform, cup), 500.0)
    judge(platform, again(platform, cup, 2), 500.0)
    assert seen(platform, student) == results
