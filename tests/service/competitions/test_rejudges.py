"""Regrades and the board of a competition: while it runs, frozen, and after the results."""

from __future__ import annotations

import socket

import pytest

from grader.device_kinds import languages_of
from grader.errors import Conflict
from grader.records import regrades, rejudges, workers
from grader.records.engine import clock, writing
from grader.records.models import SubmissionRow
from grader.schemas.competition import BoardKind, FinalBody, FinalistsBody, Mode
from grader.schemas.regrade import RegradeBody, RegradeDecision, RegradeView
from grader.schemas.report import Verdict
from grader.schemas.submission import State, VoidBody
from grader.service.accounts.accounts import User
from grader.service.competitions import finals
from grader.service.competitions.competition_boards import board
from grader.service.platform import Platform
from grader.service.review import regrade, voids
from tests.service.competitions.builders import elapse, enter, hand_in, judge, make

pytestmark = pytest.mark.both_databases


@pytest.fixture
def cup(platform: Platform, staff: User, student: User, other: User) -> str:
    """ada has 200 us and bob 300 us; returns ada's submission."""
    make(platform, staff)
    for user in (student, other):
        enter(platform, user)
    hand_in(platform, other, 300.0)
    return hand_in(platform, student, 200.0)


def again(platform: Platform, public_id: str, version: int = 1) -> str:
    """The id of a new regrade's judgement."""
    with writing(platform.sessions) as session:
        first = session.query(SubmissionRow).filter_by(public_id=public_id).one()
        row = rejudges.again(first, version)
        session.add(row)
        session.flush()
        return row.public_id


def seen(platform: Platform, user: User, kind: BoardKind | None = None) -> list[tuple[str, float | None]]:
    return [(row.team, row.score) for row in board(platform, user, "cup", kind=kind).rows]


def test_a_judgement_counts_until_the_next_one_has_ended(platform: Platform, student: User, cup: str) -> None:
    second = again(platform, cup)
    assert seen(platform, student) == [("ada", 200.0), ("bob", 300.0)]
    judge(platform, second, 400.0)
    assert seen(platform, student) == [("bob", 300.0), ("ada", 400.0)]
    assert [row.challenges[0].tries for row in board(platform, student, "cup").rows] == [1, 1], (
        "it is no attempt"
    )
    third = again(platform, cup)
    with writing(platform.sessions) as session:
        row = session.query(SubmissionRow).filter_by(public_id=third).one()
        row.state, row.verdict = State.FAILED, Verdict.INTERNAL_ERROR
    assert seen(platform, student) == [("bob", 300.0), ("ada", 400.0)], "our failure takes nothing away"


def test_a_new_version_counts_once_every_rejudge_has_ended(
    platform: Platform, student: User, other: User, cup: str
) -> None:
    theirs = board(platform, other, "cup").rows[1].challenges[0].submission
    assert theirs is not None
    mine, other_one = again(platform, cup, 2), again(platform, theirs, 2)
    judge(platform, mine, 500.0)
    assert seen(platform, student) == [("ada", 200.0), ("bob", 300.0)]
    judge(platform, other_one, 450.0)
    assert seen(platform, student) == [("bob", 450.0), ("ada", 500.0)]


def test_a_frozen_board_includes_rejudges_of_earlier_submissions(
    platform: Platform, staff: User, student: User, other: User, cup: str
) -> None:
    elapse(platform, minutes=40)
    late = hand_in(platform, other, 100.0)
    judge(platform, again(platform, cup), 400.0)
    judge(platform, again(platform, late), 90.0)
    assert seen(platform, student) == [("bob", 300.0), ("ada", 400.0)]
    assert seen(platform, staff, BoardKind.LIVE) == [("bob", 90.0), ("ada", 400.0)]


def test_a_rejudge_after_the_results_does_not_change_them(
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


def order(platform: Platform, staff: User, **values: str) -> RegradeView:
    return regrade.start(
        platform, staff, RegradeBody.model_validate({"reason": "A case was wrong."} | values)
    )


def of(platform: Platform, number: int) -> list[str]:
    """Public ids of a regrade's judgements."""
    with platform.sessions() as session:
        return [item.after.public_id for item in regrades.items(session, number)]


def ranks(platform: Platform, user: User, number: int) -> list[tuple[str, int | None, int | None]]:
    (found,) = regrade.get(platform, user, number).boards
    assert found.changed == sum(rank.before != rank.after for rank in found.ranks)
    return [(rank.team, rank.before, rank.after) for rank in found.ranks]


def test_a_regrade_shows_ranks_before_and_after(
    platform: Platform, staff: User, student: User, cup: str
) -> None:
    number = order(platform, staff, submission=cup).number
    assert ranks(platform, staff, number) == [("ada", 1, 1), ("bob", 2, 2)]
    judge(platform, of(platform, number)[0], 400.0)
    assert ranks(platform, staff, number) == [("bob", 2, 1), ("ada", 1, 2)]
    voids.void(platform, staff, cup, VoidBody(reason="copied"))
    assert ranks(platform, staff, number) == [("bob", 1, 1)], "void is void under every judgement"
    voids.restore(platform, staff, cup)
    regrade.publish(platform, staff, number, RegradeDecision())
    assert seen(platform, student) == [("bob", 300.0), ("ada", 400.0)]
    assert regrade.get(platform, staff, number).boards == []
    second = order(platform, staff, submission=cup).number
    judge(platform, of(platform, second)[0], None, verdict=Verdict.WRONG_ANSWER)
    assert ranks(platform, staff, second) == [("bob", 1, 1), ("ada", 2, None)]


def test_a_new_versions_ranks_are_compared_with_the_earlier_ones(
    platform: Platform, staff: User, cup: str
) -> None:
    number = order(platform, staff, challenge="scale").number
    with writing(platform.sessions) as session:
        for item in regrades.items(session, number):  # like one ordered for an unpublished version
            item.after.version, item.after.set_aside = 2, None
    theirs, mine = of(platform, number)
    judge(platform, mine, 400.0)
    assert ranks(platform, staff, number) == [("ada", 1, 1), ("bob", 2, 2)], "until all of it is judged"
    judge(platform, theirs, 250.0)
    assert ranks(platform, staff, number) == [("bob", 2, 1), ("ada", 1, 2)]


def test_a_regrade_counts_once_it_is_published_and_before_the_results(
    platform: Platform, staff: User, student: User, cup: str
) -> None:
    stood, after = [("ada", 200.0), ("bob", 300.0)], [("bob", 300.0), ("ada", 400.0)]
    number = order(platform, staff, submission=cup).number
    (judgement,) = of(platform, number)
    judge(platform, judgement, 400.0)
    assert seen(platform, student) == stood
    elapse(platform, hours=2)
    finals.choose_finalists(platform, staff, "cup", FinalistsBody(top=1))
    for act in (
        lambda: finals.publish_results(platform, staff, "cup"),
        lambda: finals.start_final(platform, staff, "cup", FinalBody(machine="any", repeats=1)),
    ):
        with pytest.raises(Conflict, match=f"Regrade {number} is open"):
            act()
    regrade.publish(platform, staff, number, RegradeDecision())
    assert seen(platform, staff, BoardKind.LIVE) == after
    assert seen(platform, student) == after, "received before the freeze"
    finals.publish_results(platform, staff, "cup")
    assert seen(platform, student) == after
    with pytest.raises(Conflict, match="results are published"):
        order(platform, staff, submission=cup)


def test_a_challenge_regrade_skips_settled_competitions(
    platform: Platform, staff: User, student: User, other: User, cup: str
) -> None:
    elapse(platform, hours=2)
    finals.choose_finalists(platform, staff, "cup", FinalistsBody(top=1))
    with writing(platform.sessions) as session:
        workers.register(session, "w", "cpu", languages_of("cpu"), clock(session))
    finals.start_final(platform, staff, "cup", FinalBody(machine=socket.gethostname(), repeats=1))
    with pytest.raises(Conflict, match="final has begun"):
        order(platform, staff, submission=cup)
    with pytest.raises(Conflict, match="nothing to judge again"):
        order(platform, staff, challenge="scale")
    enter(platform, student, mode=Mode.PRACTICE)
    practised = hand_in(platform, student, 50.0, competition="cup")
    outside = hand_in(platform, other, 60.0, competition="")
    finals.cancel_final(platform, staff, "cup")
    finals.publish_results(platform, staff, "cup")
    found = order(platform, staff, challenge="scale")
    assert {submission.submission for submission in found.submissions} == {practised, outside}
    for public_id in of(platform, found.number):
        judge(platform, public_id, 70.0)
    regrade.publish(platform, staff, found.number, RegradeDecision())
    scores = [row.score for row in board(platform, student, "cup", mode=Mode.PRACTICE).rows]
    assert scores == [70.0], "practice goes on after the results"
    assert seen(platform, student) == [("ada", 200.0), ("bob", 300.0)]
