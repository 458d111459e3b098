"""Who sees what on a competition's board, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import Conflict, NotAllowed
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.competition import BoardKind, CompetitionBoard, DisqualifyBody, Mode
from grader.schemas.report import Verdict
from grader.service.accounts.accounts import User
from grader.service.competitions import finals, teams
from grader.service.competitions.competition_boards import board
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from tests.service.competitions.builders import elapse, enter, hand_in, judge, make, people
from tests.service.world import body

pytestmark = pytest.mark.both_databases


def _ranks(found: CompetitionBoard) -> list[tuple[str, int | None, float | None]]:
    return [(row.team, row.rank, row.score) for row in found.rows]


def test_boards_are_live_frozen_then_final(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    make(platform, staff)
    for user in (student, other):
        enter(platform, user)
    own = hand_in(platform, student, 200.0)
    hand_in(platform, other, 300.0)
    hand_in(platform, other, None, verdict=Verdict.WRONG_ANSWER)
    seen = board(platform, student, "cup")
    assert (seen.kind, _ranks(seen)) == (BoardKind.LIVE, [("ada", 1, 200.0), ("bob", 2, 300.0)])
    assert [(row.own, row.challenges[0].submission, row.challenges[0].tries) for row in seen.rows] == [
        (True, own, 1),
        (False, None, 2),
    ]
    elapse(platform, minutes=40)
    # Received after the freeze, and one that is still waiting.
    hand_in(platform, other, 100.0)
    late = submit(platform, student, body()).id
    seen = board(platform, student, "cup")
    assert (seen.kind, _ranks(seen)) == (BoardKind.FROZEN, [("ada", 1, 200.0), ("bob", 2, 300.0)])
    assert [row.challenges[0].pending for row in seen.rows] == [1, 1]
    with pytest.raises(NotAllowed, match="frozen"):
        board(platform, student, "cup", kind=BoardKind.LIVE)
    live = board(platform, staff, "cup")
    assert (live.kind, _ranks(live)[0]) == (BoardKind.LIVE, ("bob", 1, 100.0))
    elapse(platform, hours=1)
    assert board(platform, student, "cup").kind is BoardKind.FROZEN
    with pytest.raises(Conflict, match="1 submissions received before the end"):
        finals.publish_results(platform, staff, "cup")
    # Judged after the end, received before it.
    judge(platform, late, 50.0)
    finals.publish_results(platform, staff, "cup")
    final = board(platform, student, "cup")
    assert (final.kind, _ranks(final)) == (BoardKind.FINAL, [("ada", 1, 50.0), ("bob", 2, 100.0)])
    assert board(platform, student, "cup", kind=BoardKind.FROZEN).rows[0].score == 200.0


def test_a_disqualified_team_is_on_no_board(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    make(platform, staff)
    for user, time in ((student, 100.0), (other, 200.0)):
        enter(platform, user)
        hand_in(platform, user, time)
    teams.disqualify(platform, staff, "cup", DisqualifyBody(team="ada", reason="copied"))
    assert _ranks(board(platform, other, "cup")) == [("bob", 1, 200.0)]
    teams.disqualify(platform, staff, "cup", DisqualifyBody(team="ada"))
    assert _ranks(board(platform, other, "cup"))[0] == ("ada", 1, 100.0)


def test_a_board_compares_one_version_of_a_challenge(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    make(platform, staff)
    for user, time in ((student, 100.0), (other, 200.0)):
        enter(platform, user)
        hand_in(platform, user, time)
    with writing(platform.sessions) as session:
        newest = session.query(SubmissionRow).order_by(SubmissionRow.id.desc()).first()
        assert newest is not None
        newest.version = 2
    assert _ranks(board(platform, staff, "cup")) == [("bob", 1, 200.0), ("ada", None, None)]


def test_virtual_participants_see_the_board_as_it_was(platform: Platform, staff: User, student: User) -> None:
    make(platform, staff, freeze_minutes=0)
    ada, bob = people(platform, 2)
    for user in (ada, bob):
        enter(platform, user)
    hand_in(platform, ada, 500.0)
    elapse(platform, minutes=30)
    hand_in(platform, bob, 300.0)
    elapse(platform, hours=2)
    enter(platform, student, mode=Mode.VIRTUAL)
    with pytest.raises(Conflict, match="do not take part virtually"):
        board(platform, ada, "cup", mode=Mode.VIRTUAL)
    assert _ranks(board(platform, student, "cup", mode=Mode.VIRTUAL))[0][1] is None
    # An hour and a half into it: the first two submissions were made after 60 and 90 minutes.
    elapse(platform, minutes=65)
    hand_in(platform, student, 400.0)
    seen = board(platform, student, "cup", mode=Mode.VIRTUAL)
    assert seen.elapsed_s == pytest.approx(65 * 60, abs=60)
    assert _ranks(seen) == [("ada", 1, 400.0), ("user0", 2, 500.0), ("user1", None, None)]
    assert seen.rows[0].mode is Mode.VIRTUAL
    assert _ranks(board(platform, student, "cup")) == [("user1", 1, 300.0), ("user0", 2, 500.0)]
    elapse(platform, minutes=30)
    assert _ranks(board(platform, student, "cup", mode=Mode.VIRTUAL))[0] == ("user1", 1, 300.0)


def test_a_frozen_board_is_frozen_for_virtual_participants(
    platform: Platform, staff: User, student: User
) -> None:
    make(platform, staff)
    ada, bob = people(platform, 2)
    for user in (ada, bob):
        enter(platform, user)
    hand_in(platform, ada, 500.0)
    elapse(platform, minutes=40)
    hand_in(platform, bob, 300.0)
    elapse(platform, minutes=30)
    enter(platform, student, mode=Mode.VIRTUAL)
    hand_in(platform, student, 400.0)
    elapse(platform, hours=3)
    expected = [("ada", 1, 400.0), ("user0", 2, 500.0), ("user1", None, None)]
    assert _ranks(board(platform, student, "cup", mode=Mode.VIRTUAL)) == expected
    finals.publish_results(platform, staff, "cup")
    assert _ranks(board(platform, student, "cup", mode=Mode.VIRTUAL))[0] == ("user1", 1, 300.0)


def test_a_board_hides_challenges_before_the_start(platform: Platform, staff: User, student: User) -> None:
    make(platform, staff, starts_at=utcnow() + timedelta(minutes=30))
    enter(platform, student)
    for viewer in (student, None):
        assert board(platform, viewer, "cup").challenges == []
        assert all(row.challenges == [] for row in board(platform, viewer, "cup").rows)
    assert board(platform, staff, "cup").challenges == ["scale"]
    elapse(platform, minutes=31)
    assert board(platform, None, "cup").challenges == ["scale"]


def test_practice_has_a_separate_board(platform: Platform, staff: User, student: User) -> None:
    make(platform, staff)
    elapse(platform, hours=3)
    enter(platform, student, mode=Mode.PRACTICE)
    hand_in(platform, student, 9.0, competition="cup")
    assert _ranks(board(platform, student, "cup", mode=Mode.PRACTICE)) == [("ada", 1, 9.0)]
    assert board(platform, student, "cup").rows == []


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        ("time", [("bob", 1, 100.0), ("ada", 2, 200.0)]),
        ("speedups", [("ada", 1, 4.0), ("bob", 2, 2.5)]),
        ("points", [("ada", 1, 40.0), ("bob", 1, 40.0)]),
    ],
)
def test_each_scoring_ranks_by_its_figure(
    platform: Platform,
    staff: User,
    student: User,
    other: User,
    scoring: str,
    expected: list[tuple[str, int, float]],
) -> None:
    make(platform, staff, scoring=scoring, challenges=[{"challenge": "scale", "points": 40}])
    for user, time, speedup in ((student, 200.0, 4.0), (other, 100.0, 2.5)):
        enter(platform, user)
        hand_in(platform, user, time, speedup)
    assert _ranks(board(platform, student, "cup")) == expected


@pytest.mark.parametrize("code_shown", [True, False])
def test_code_is_shown_after_the_results_if_the_rules_allow(
    platform: Platform, staff: User, student: User, other: User, code_shown: bool
) -> None:
    make(platform, staff, code_shown=code_shown)
    for user in (student, other):
        enter(platform, user)
    hand_in(platform, student, 10.0)
    elapse(platform, hours=2)
    with pytest.raises(NotAllowed, match="not published yet" if code_shown else "do not show code"):
        finals.get_code(platform, other, "cup", "ada", "scale")
    finals.publish_results(platform, staff, "cup")
    if code_shown:
        assert finals.get_code(platform, other, "cup", "ada", "scale").source == "x = 10.0\n"
    else:
        with pytest.raises(NotAllowed, match="do not show code"):
            finals.get_code(platform, other, "cup", "ada", "scale")
    assert finals.get_code(platform, student, "cup", "ada", "scale").source == "x = 10.0\n", "one's own"
