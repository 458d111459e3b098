"""People who asked for it have a pseudonym wherever others look."""

from __future__ import annotations

import pytest

from grader.schemas.account import Role
from grader.service.boards.leaderboard import leaderboard, records_over_time
from grader.service.boards.pseudonyms import made_up_name
from grader.service.boards.track_board import leaderboards, track_board
from grader.service.platform import Platform
from tests.service.boards.rows import SLUG, enter, person

pytestmark = pytest.mark.both_databases

SECRET = b"s" * 32


def test_pseudonyms_are_unique_on_a_board() -> None:
    names = [made_up_name(SECRET, "scale", user) for user in range(2 * 4096 + 100)]
    assert len(set(names)) == len(names)
    assert all(" " in name for name in names)
    assert names[5].count(" ") == 1
    assert names[4096 + 5].endswith(" 2")


def test_a_pseudonym_depends_on_board_and_secret() -> None:
    names = [made_up_name(SECRET, "scale", user) for user in range(200)]
    assert names == [made_up_name(SECRET, "scale", user) for user in range(200)]
    for other in (
        [made_up_name(SECRET, "axpy", user) for user in range(200)],
        [made_up_name(b"t" * 32, "scale", user) for user in range(200)],
    ):
        # By chance one in 4,096 is the same.
        assert sum(a == b for a, b in zip(names, other, strict=True)) < 4


def test_others_see_the_pseudonym_on_every_board(platform: Platform) -> None:
    ada, bob = person(platform, "ada", anonymous=True), person(platform, "bob")
    enter(platform, ada, 10.0)
    enter(platform, bob, 20.0)
    for viewer in (None, bob):
        board = leaderboard(platform, SLUG, viewer=viewer)
        hidden = board.entries[0]
        assert hidden.anonymous
        assert hidden.user == made_up_name(platform.settings.secret("pseudonyms"), SLUG, ada.id)
        assert (board.entries[1].user, board.entries[1].anonymous) == ("bob", False)
        record = records_over_time(platform, SLUG, viewer=viewer).records[0]
        assert (record.user, record.anonymous) == (hidden.user, True)
        leader = leaderboards(platform, viewer=viewer).tracks[0].boards[0].leader
        assert leader is not None
        assert (leader.user, leader.anonymous) == (hidden.user, True)
        track = track_board(platform, "first", viewer=viewer).entries[0]
        assert track.anonymous
        assert "ada" not in (track.user, hidden.user)


def test_staff_and_the_owner_see_the_real_name(platform: Platform) -> None:
    ada, teacher = person(platform, "ada", anonymous=True), person(platform, "teacher", Role.STAFF)
    enter(platform, ada, 10.0)
    for viewer in (ada, teacher):
        board = leaderboard(platform, SLUG, viewer=viewer)
        assert [(entry.user, entry.anonymous) for entry in board.entries] == [("ada", False)]
        assert records_over_time(platform, SLUG, viewer=viewer).records[0].user == "ada"
        assert track_board(platform, "first", viewer=viewer).entries[0].user == "ada"
