"""The best time over time, and the boards of tracks."""

from __future__ import annotations

import pytest

from grader.errors import NotFound, UnknownDevice
from grader.languages import Language
from grader.records.board_snapshots import EMPTY, BoardSnapshot
from grader.records.ranks import Board, BoardEntry
from grader.schemas.account import Role
from grader.service.boards.leaderboard import records_over_time
from grader.service.boards.rankings import Ranking
from grader.service.boards.track_board import leaderboards, standings_of, track_board
from grader.service.platform import Platform
from tests.service.boards.rows import SLUG, START, enter, person

pytestmark = pytest.mark.both_databases


def test_only_clearly_faster_times_are_records(platform: Platform) -> None:
    ada, bob = person(platform, "ada"), person(platform, "bob")
    teacher = person(platform, "teacher", Role.STAFF)
    enter(platform, ada, 50.0, hour=1)
    enter(platform, bob, 45.0, hour=2)  # within the board's resolution
    enter(platform, teacher, 1.0, hour=3)
    enter(platform, bob, 30.0, hour=4)
    enter(platform, ada, 35.0, hour=5)
    enter(platform, ada, 29.5, width=0.1, hour=6)  # more certain, but hardly faster
    enter(platform, ada, 20.0, hour=7, language=Language.CUDA)
    found = records_over_time(platform, SLUG)
    assert [(record.user, record.time_us) for record in found.records] == [
        ("ada", 50.0),
        ("bob", 30.0),
        ("ada", 20.0),
    ]
    assert found.records[0].ci_us == (49.0, 51.0)
    assert (found.records[1].submitted_at - START).total_seconds() == 4 * 3600
    triton = records_over_time(platform, SLUG, language="triton", viewer=ada)
    assert [(record.time_us, record.own) for record in triton.records] == [(50.0, True), (30.0, False)]
    assert records_over_time(platform, SLUG, version=7).records == []


def test_tracks_rank_by_solved_challenges_then_relative_speed(platform: Platform) -> None:
    ada, bob, eve, kim = (person(platform, name) for name in ("ada", "bob", "eve", "kim"))
    enter(platform, ada, 10.0)
    enter(platform, bob, 40.0)
    enter(platform, eve, 20.0)
    enter(platform, kim, 40.0)
    board = track_board(platform, "first", limit=2, viewer=kim)
    assert [(entry.rank, entry.user, entry.solved, entry.relative) for entry in board.entries] == [
        (1, "ada", 1, 1.0),
        (2, "eve", 1, 0.5),
    ]
    assert (board.total, board.challenges, board.own_place) == (4, ["scale"], 3)
    assert board.own is not None
    assert (board.own.rank, board.own.relative) == (3, 0.25)
    assert [entry.rank for entry in track_board(platform, "first", offset=2).entries] == [3, 3]


def test_more_solved_comes_before_faster(platform: Platform) -> None:
    def ranking(*times: tuple[int, float]) -> Ranking:
        entries = {user: BoardEntry(0, user, time, time, time, 0) for user, time in times}
        return Ranking(Board("-", 1, "-"), BoardSnapshot(EMPTY, entries, 0, frozenset()), [])

    found = standings_of([ranking((1, 10.0), (2, 40.0), (3, 10.0)), ranking((2, 30.0), (3, 60.0)), ranking()])
    assert [standing.user for standing in found] == [3, 2, 1]
    assert [standing.solved for standing in found] == [2, 2, 1]
    assert [standing.relative for standing in found] == pytest.approx([0.5**0.5, 0.5, 1.0])


def test_unknown_tracks_and_devices_are_refused(platform: Platform) -> None:
    with pytest.raises(NotFound):
        track_board(platform, "no such track")
    with pytest.raises(UnknownDevice):
        track_board(platform, "first", device="abacus")
    with pytest.raises(UnknownDevice):
        leaderboards(platform, device="abacus")


def test_a_device_with_old_entries_only_has_a_board(platform: Platform) -> None:
    enter(platform, person(platform, "ada"), 10.0, device="t4")
    assert [entry.user for entry in track_board(platform, "first", device="t4").entries] == ["ada"]
    assert leaderboards(platform, device="t4").tracks[0].boards[0].entries == 1


def test_the_list_of_boards_names_leaders(platform: Platform) -> None:
    ada, bob = person(platform, "ada"), person(platform, "bob")
    enter(platform, ada, 10.0)
    enter(platform, bob, 40.0)
    found = leaderboards(platform, viewer=ada)
    assert [(track.title, [board.challenge for board in track.boards]) for track in found.tracks] == [
        ("first", ["scale"]),
        ("second", ["only_cuda"]),
    ]
    first, empty = (track.boards[0] for track in found.tracks)
    assert first.leader is not None
    assert (first.entries, first.leader.user, first.leader.time_us, first.leader.own) == (
        2,
        "ada",
        10.0,
        True,
    )
    assert (empty.entries, empty.leader) == (0, None)
    assert not found.representative
