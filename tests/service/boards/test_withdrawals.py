"""An entry that its author takes off the board, and puts back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import update

from grader.errors import Conflict, NotAllowed, NotFound
from grader.records import attempts, rejudges
from grader.records.engine import writing
from grader.records.models import ChallengeStateRow, SubmissionRow
from grader.schemas.account import Role
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.audit import AuditFilter
from grader.service.boards.leaderboard import board_and_records, leaderboard
from grader.service.boards.withdrawals import EntryAct, possible, put_back, withdraw
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from tests.service.boards.rows import SLUG, START, enter, person
from tests.service.competitions import builders

Change = Callable[[Platform, User, str], object]


def name(platform: Platform, row: int) -> str:
    with platform.sessions() as session:
        return session.get_one(SubmissionRow, row).public_id


def test_the_next_best_entry_ranks_until_it_is_put_back(platform: Platform) -> None:
    ada, bob, eve = person(platform, "ada"), person(platform, "bob"), person(platform, "eve", Role.STAFF)
    slow, fast = (name(platform, enter(platform, ada, time, hour=at)) for at, time in ((0, 30.0), (1, 10.0)))
    enter(platform, bob, 20.0, hour=2)

    def seen(viewer: User) -> tuple[list[tuple[str, float]], str, list[float]]:
        board, records = board_and_records(platform, SLUG, viewer=viewer)
        own = board.own.submission if board.own else ""
        entries = [(entry.user, entry.time_us) for entry in board.entries]
        return entries, own, [record.time_us for record in records.records]

    def solved() -> object:
        with platform.sessions() as session:
            return attempts.of_user(session, ada.id)

    before = seen(ada), solved()
    assert before[0] == ([("ada", 10.0), ("bob", 20.0)], fast, [30.0, 10.0])
    assert possible(platform, ada, fast) is EntryAct.WITHDRAW
    view = withdraw(platform, ada, fast)
    assert view.withdrawn_at is not None
    assert withdraw(platform, ada, fast) == view
    assert seen(ada) == ([("bob", 20.0), ("ada", 30.0)], slow, [30.0, 20.0])
    # The solved challenge, its speedup and the result stay; staff see the time of the withdrawal.
    assert solved() == before[1]
    assert get_submission(platform, eve, fast).withdrawn_at == view.withdrawn_at
    assert possible(platform, ada, fast) is EntryAct.PUT_BACK
    withdraw(platform, ada, slow)
    assert seen(ada) == ([("bob", 20.0)], "", [20.0])
    assert leaderboard(platform, SLUG).total == 1
    for submission in (slow, fast):
        assert put_back(platform, ada, submission).withdrawn_at is None
    assert (seen(ada), solved()) == before
    found = audit.of_platform(platform, eve, AuditFilter(action="entry.withdraw")).entries
    assert [(each.actor, each.subject) for each in found[:3:2]] == [
        ("ada", f"/submissions/{fast}/withdrawal"),
        ("ada", f"/submissions/{slow}/withdrawal"),
    ]
    assert (found[-1].before, found[-1].after) == (
        {"withdrawn_at": None},
        {"withdrawn_at": view.withdrawn_at.isoformat()},
    )


def test_later_judgements_follow_their_submission(platform: Platform) -> None:
    ada = person(platform, "ada")
    row = enter(platform, ada, 30.0)
    withdraw(platform, ada, name(platform, row))
    with writing(platform.sessions) as session:
        later = rejudges.again(session.get_one(SubmissionRow, row), 1)
        done = {"verdict": Verdict.ACCEPTED, "time_us": 5.0, "ci_lo_us": 5.0, "ci_hi_us": 5.0}
        for column, value in done.items():
            setattr(later, column, value)
        later.state = session.get_one(SubmissionRow, row).state
        session.add(later)
        session.flush()
        again = later.public_id
    assert leaderboard(platform, SLUG).entries == []
    put_back(platform, ada, again)
    assert [entry.submission for entry in leaderboard(platform, SLUG).entries] == [again]


@pytest.mark.parametrize("change", [withdraw, put_back])
def test_only_the_author_withdraws(platform: Platform, change: Change) -> None:
    ada, bob, eve = person(platform, "ada"), person(platform, "bob"), person(platform, "eve", Role.STAFF)
    entry = name(platform, enter(platform, ada, 10.0))
    with pytest.raises(NotFound):
        change(platform, bob, entry)
    with pytest.raises(NotAllowed, match="Only its author"):
        change(platform, eve, entry)
    assert possible(platform, eve, entry) is None


def test_boards_that_decide_something_keep_their_entries(platform: Platform) -> None:
    ada, eve = person(platform, "ada"), person(platform, "eve", Role.STAFF)
    builders.make(platform, eve)
    builders.enter(platform, ada)
    of_cup = builders.hand_in(platform, ada, 9.0)
    wrong = enter(platform, ada, 9.0, verdict=Verdict.WRONG_ANSWER)
    run = enter(platform, ada, 9.0, kind=JudgingReason.RUN, ci_lo_us=None, ci_hi_us=None)
    gone, old, new = (enter(platform, ada, 10.0, hour=hour) for hour in (1, 2, 9))
    refused = (
        (of_cup, "a competition"),
        (name(platform, wrong), "no board"),
        (name(platform, run), "no board"),
    )
    for submission, message in refused:
        with pytest.raises(Conflict, match=message):
            withdraw(platform, ada, submission)
        assert possible(platform, ada, submission) is None
    withdraw(platform, ada, name(platform, gone))
    with writing(platform.sessions) as session:
        frozen = update(ChallengeStateRow).where(ChallengeStateRow.challenge == SLUG)
        session.execute(frozen.values(frozen_at=START.replace(hour=5)))
    for change, row in ((withdraw, old), (put_back, gone)):
        with pytest.raises(Conflict, match="is frozen"):
            change(platform, ada, name(platform, row))
    # An entry after the freeze is not on it.
    withdraw(platform, ada, name(platform, new))
    with writing(platform.sessions) as session:
        session.execute(update(ChallengeStateRow).values(frozen_at=None))
    put_back(platform, ada, name(platform, gone))
