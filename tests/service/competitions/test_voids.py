"""A voided result counts on none of a competition's boards, and the team is notified."""

from __future__ import annotations

from typing import Any

import pytest

from grader.errors import NotAllowed, NotFound
from grader.records.engine import writing
from grader.records.models import CourseRow, MemberRow
from grader.schemas.competition import BoardKind, Mode
from grader.schemas.submission import VoidBody
from grader.service.accounts.accounts import User
from grader.service.competitions import competitions
from grader.service.competitions.competition_boards import board
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import voids
from tests.service.competitions.builders import elapse, enter, hand_in, make, people

pytestmark = pytest.mark.both_databases

COPIED = VoidBody(reason="Copied.")


def scores(platform: Platform, viewer: User, **values: Any) -> list[tuple[str, float | None, int]]:
    found = board(platform, viewer, "cup", **values)
    return [(row.team, row.score, row.challenges[0].tries) for row in found.rows]


def test_a_void_result_is_on_no_board_but_stays_an_attempt(
    platform: Platform, staff: User, student: User
) -> None:
    make(platform, staff, team_size=2, cap_day=9)
    ada, bob = people(platform, 2)
    code = enter(platform, ada, team="Warps").own[0].join_code
    enter(platform, bob, join_code=code)
    enter(platform, student)
    hand_in(platform, student, 200.0)
    hand_in(platform, bob, 300.0)
    fast = hand_in(platform, bob, 100.0)
    elapse(platform, minutes=40)
    boards: list[dict[str, object]] = [{"kind": BoardKind.LIVE}, {"kind": BoardKind.FROZEN}]
    whole, rest = [("Warps", 100.0, 2), ("ada", 200.0, 1)], [("ada", 200.0, 1), ("Warps", 300.0, 2)]
    assert [scores(platform, staff, **board) for board in boards] == [whole, whole]
    voids.void(platform, staff, fast, COPIED)
    assert [scores(platform, staff, **board) for board in boards] == [rest, rest]
    (cap,) = competitions.get_competition(platform, ada, "cup").own[0].caps
    # Not today's: elapse may have made them yesterday's.
    assert cap.total_used == 2
    assert [(notice.text, notice.path) for notice in notices.list_notices(platform, bob).notices] == [
        ("Your result for scale is void: Copied.", f"/submissions/{fast}")
    ]
    assert [(notice.text, notice.path) for notice in notices.list_notices(platform, ada).notices] == [
        ("Your team's result for scale is void: Copied.", "/competitions/cup")
    ]
    voids.restore(platform, staff, fast)
    assert [scores(platform, staff, **board) for board in boards] == [whole, whole]


def test_a_void_result_counts_neither_virtually_nor_in_practice(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    make(platform, staff)
    elapse(platform, hours=3)
    for user, mode in ((student, Mode.PRACTICE), (other, Mode.VIRTUAL)):
        enter(platform, user, mode=mode)
        voids.void(platform, staff, hand_in(platform, user, 10.0, competition="cup"), COPIED)
        assert [(row.team, row.score) for row in board(platform, user, "cup", mode=mode).rows] == [
            (user.name, None)
        ]


def test_only_platform_staff_void_competition_results(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    """A participant's teacher decides nothing about a competition."""
    make(platform, staff)
    enter(platform, student)
    sent = hand_in(platform, student, 10.0)
    with writing(platform.sessions) as session:
        session.add(CourseRow(id=1, slug="gpu", name="GPU", time_zone="UTC", visibility="members"))
        session.flush()
        session.add(MemberRow(course_id=1, user_id=other.id, role="owner"))
        session.add(MemberRow(course_id=1, user_id=student.id, role="student"))
    for user, error in ((student, NotAllowed), (other, NotFound)):
        with pytest.raises(error):
            voids.void(platform, user, sent, COPIED)
