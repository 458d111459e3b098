"""After solving: rank, percentile, share of the ceiling, next challenge, and who may know them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import Conflict, NotFound
from grader.records.models import utcnow
from grader.schemas.account import Role
from grader.schemas.publication import BoardAudience, BoardBody
from grader.schemas.report import Verdict
from grader.schemas.standing import Standing
from grader.schemas.submission import SetAside
from grader.service.accounts.accounts import User
from grader.service.boards import board_access, standing
from grader.service.platform import Platform
from tests.records.rows import read
from tests.service.boards.rows import enter, person, report


def stands(platform: Platform, user: User, row: int) -> Standing:
    return standing.standing(platform, user, read(platform.sessions, row).public_id)


def test_a_rank_says_how_many_are_slower_and_how_many_are_level(platform: Platform) -> None:
    ada = person(platform, "ada")
    for number, time_us in enumerate((20.0, 39.9, 40.1, *range(50, 58))):
        enter(platform, person(platform, f"user{number}"), float(time_us))
    found = stands(platform, ada, enter(platform, ada, 40.0))
    assert (found.rank, found.others, found.slower, found.level) == (2, 11, 8, 2)
    assert found.percentile == pytest.approx(100 * 9 / 11)
    assert found.sentence == "Faster than 8 of 11 other entries, level with 2."


def test_few_entries_have_no_percentile(platform: Platform) -> None:
    ada, bob = person(platform, "ada"), person(platform, "bob")
    mine = enter(platform, ada, 40.0)
    found = stands(platform, ada, mine)
    assert (found.rank, found.percentile, found.sentence) == (1, None, "The only entry of this board.")
    enter(platform, bob, 40.0)
    found = stands(platform, ada, mine)
    assert (found.rank, found.percentile, found.sentence) == (1, None, "Level with the other entry.")
    enter(platform, bob, 20.0)
    assert stands(platform, ada, mine).sentence == "Slower than the other entry."


def test_the_rank_is_of_the_fastest_submission(platform: Platform) -> None:
    ada = person(platform, "ada")
    slow, fast = enter(platform, ada, 90.0), enter(platform, ada, 40.0, hour=1)
    assert stands(platform, ada, slow).entry == read(platform.sessions, fast).public_id


def test_the_share_of_the_ceiling_is_the_boards(platform: Platform) -> None:
    ada = person(platform, "ada")
    mine = enter(platform, ada, 40.0, attempt=1)
    assert stands(platform, ada, mine).sol is None, "no report"
    report(platform, mine)
    assert stands(platform, ada, mine).sol == pytest.approx(0.5)


def test_the_next_challenge_is_that_of_the_progress(platform: Platform) -> None:
    ada, boss = person(platform, "ada"), person(platform, "boss", Role.STAFF)
    mine = enter(platform, ada, 40.0)
    found = stands(platform, ada, mine)
    assert (found.next, found.next_title) == ("only_cuda", "CUDA only")
    assert stands(platform, boss, mine).next is None, "it is for the author"


def test_ranks_are_shown_to_whom_the_board_shows_them(platform: Platform) -> None:
    ada, bob, boss = person(platform, "ada"), person(platform, "bob"), person(platform, "boss", Role.STAFF)
    mine = enter(platform, ada, 40.0)
    enter(platform, bob, 30.0)
    with pytest.raises(NotFound):
        stands(platform, bob, mine)
    board_access.set_board(platform, boss, "scale", BoardBody(board=BoardAudience.HIDDEN))
    hidden = stands(platform, ada, mine)
    assert (hidden.rank, hidden.others, hidden.slower, hidden.percentile) == (None, 0, 0, None)
    assert hidden.sentence == "This board shows you no ranks."
    assert stands(platform, boss, mine).rank == 2
    frozen = BoardBody(board=BoardAudience.PUBLIC, frozen_at=utcnow() - timedelta(days=1))
    board_access.set_board(platform, boss, "scale", frozen)
    assert stands(platform, ada, mine).sentence == "The board is frozen, so it shows no new ranks."


def test_staff_and_void_results_have_no_rank(platform: Platform) -> None:
    ada, boss = person(platform, "ada"), person(platform, "boss", Role.STAFF)
    assert stands(platform, boss, enter(platform, boss, 10.0)).unranked.startswith("Staff's entries")
    void = stands(platform, ada, enter(platform, ada, 40.0, set_aside=SetAside.VOID))
    assert (void.rank, void.unranked) == (None, "It has no rank on this board.")


def test_only_accepted_submissions_stand_anywhere(platform: Platform) -> None:
    ada = person(platform, "ada")
    with pytest.raises(Conflict):
        stands(platform, ada, enter(platform, ada, 40.0, verdict=Verdict.WRONG_ANSWER))
