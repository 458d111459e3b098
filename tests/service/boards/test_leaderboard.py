"""A board from the service: parts, the caller's own entry, references, and the cache."""

from __future__ import annotations

import pytest
from sqlalchemy import event, update

from grader.records.engine import writing
from grader.records.models import SubmissionRow, UserRow
from grader.schemas.account import Role
from grader.schemas.leaderboard import Leaderboard
from grader.service.boards.leaderboard import leaderboard
from grader.service.platform import Platform
from tests.service.boards.rows import SLUG, enter, person, remove, report

pytestmark = pytest.mark.both_databases


def _seen(board: Leaderboard) -> list[tuple[int | None, str]]:
    return [(entry.rank, entry.user) for entry in board.entries]


def test_ties_share_a_rank_and_the_fastest_valid_run_is_kept(platform: Platform) -> None:
    ada, bob, eve = (person(platform, name) for name in ("ada", "bob", "eve"))
    enter(platform, ada, 10.0)
    enter(platform, ada, 10.5, width=0.1)
    enter(platform, bob, 11.0)
    enter(platform, eve, 20.0)
    board = leaderboard(platform, SLUG)
    assert _seen(board) == [(1, "ada"), (1, "bob"), (3, "eve")]
    assert (board.total, board.resolution) == (3, 0.2)
    first = board.entries[0]
    assert (first.time_us, first.ci_us, first.speedup) == (10.0, (9.0, 11.0), 10.0)
    assert first.speedup_ci == pytest.approx((100 / 11, 100 / 9))


def test_the_viewers_entry_is_returned_from_any_page(platform: Platform) -> None:
    people = [person(platform, f"u{n}") for n in range(5)]
    for n, user in enumerate(people):
        enter(platform, user, 10.0 * 2**n)
    board = leaderboard(platform, SLUG, limit=2, offset=1, viewer=people[4])
    assert _seen(board) == [(2, "u1"), (3, "u2")]
    assert (board.total, board.own_place) == (5, 4)
    assert board.own is not None
    assert (board.own.rank, board.own.user, board.own.own) == (5, "u4", True)
    shown = leaderboard(platform, SLUG, viewer=people[1])
    assert [entry.own for entry in shown.entries] == [False, True, False, False, False]
    nobody = leaderboard(platform, SLUG, viewer=person(platform, "late"))
    assert (nobody.own, nobody.own_place) == (None, None)


def test_staff_are_unranked_and_their_best_is_shown(platform: Platform) -> None:
    enter(platform, person(platform, "ada"), 30.0)
    enter(platform, person(platform, "teacher", Role.STAFF), 10.0)
    enter(platform, person(platform, "admin", Role.ADMIN), 20.0)
    board = leaderboard(platform, SLUG)
    assert _seen(board) == [(1, "ada")]
    assert [
        (reference.kind, reference.name, reference.time_us, reference.ci_us) for reference in board.references
    ] == [("staff", "staff solution", 10.0, (9.0, 11.0))]


def test_references_use_ranked_workloads_only(platform: Platform) -> None:
    ada, bob = person(platform, "ada"), person(platform, "bob")
    enter(platform, bob, 30.0)  # its report was pruned
    report(platform, enter(platform, ada, 40.0))
    board = leaderboard(platform, SLUG)
    told = {
        reference.name: (reference.kind, reference.time_us, reference.speedup, reference.sol)
        for reference in board.references
    }
    assert [reference.name for reference in board.references] == ["speed of light", "compile", "eager"]
    assert told["eager"] == ("baseline", pytest.approx(100.0), pytest.approx(1.0), pytest.approx(0.2))
    assert told["compile"] == ("baseline", pytest.approx(50.0), pytest.approx(2.0), pytest.approx(0.4))
    assert told["speed of light"][:2] == ("roofline", pytest.approx(20.0))
    assert [entry.sol for entry in board.entries] == pytest.approx([20 / 30, 20 / 40])


def test_the_board_names_cases_left_out_for_memory(platform: Platform) -> None:
    """Without this nobody would know that an accepted kernel was not tested there."""
    ada, bob = person(platform, "ada"), person(platform, "bob")
    report(platform, enter(platform, ada, 40.0))
    assert leaderboard(platform, SLUG).left_out == []
    report(platform, enter(platform, bob, 30.0), left_out=["beyond_2_31"])
    assert leaderboard(platform, SLUG).left_out == ["beyond_2_31"]


def test_changes_appear_on_the_board_at_once(platform: Platform) -> None:
    ada, bob = person(platform, "ada"), person(platform, "bob")
    first = enter(platform, ada, 30.0)
    assert _seen(leaderboard(platform, SLUG)) == [(1, "ada")]
    second = enter(platform, bob, 10.0)
    assert _seen(leaderboard(platform, SLUG)) == [(1, "bob"), (2, "ada")]
    with writing(platform.sessions) as session:  # judged again: the row stays, its time does not
        times = {"time_us": 50.0, "ci_lo_us": 49.0, "ci_hi_us": 51.0}
        session.execute(update(SubmissionRow).where(SubmissionRow.id == second).values(times))
    assert _seen(leaderboard(platform, SLUG)) == [(1, "ada"), (2, "bob")]
    remove(platform, first)
    assert _seen(leaderboard(platform, SLUG)) == [(1, "bob")]
    with writing(platform.sessions) as session:
        session.execute(update(UserRow).where(UserRow.id == bob.id).values(role=Role.STAFF.value))
    assert _seen(leaderboard(platform, SLUG)) == []


def test_an_unchanged_board_is_not_ranked_again(platform: Platform) -> None:
    enter(platform, person(platform, "ada"), 30.0)
    leaderboard(platform, SLUG)
    said: list[str] = []
    event.listen(
        platform.engine, "before_cursor_execute", lambda _c, _u, statement, *_: said.append(statement)
    )
    leaderboard(platform, SLUG, limit=1)
    assert said
    assert not [statement for statement in said if "row_number" in statement and "accepted" in statement]
