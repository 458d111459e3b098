"""A cached board that is continued equals a board that is read again."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from sqlalchemy import delete, select, update

from grader.languages import Language
from grader.records import board_snapshots
from grader.records.engine import writing
from grader.records.models import SubmissionRow, UserRow, utcnow
from grader.schemas.account import Role
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard, records_over_time
from grader.service.boards.rankings import Rankings
from grader.service.boards.track_board import leaderboards
from grader.service.platform import Platform
from tests.service.boards.rows import SLUG, enter, person

pytestmark = pytest.mark.both_databases

STEPS = 25


def seen(platform: Platform) -> list[object]:
    shown: list[object] = [leaderboards(platform).model_dump()]
    for language in (None, "cuda"):
        shown.append(leaderboard(platform, SLUG, language=language).model_dump())
        shown.append(records_over_time(platform, SLUG, language=language).model_dump())
    return shown


def anew(platform: Platform) -> list[object]:
    return seen(replace(platform, rankings=Rankings()))


def come(platform: Platform, chance: random.Random, people: list[User]) -> None:
    # Few different values, to get ties and equal ends.
    enter(
        platform,
        chance.choice(people),
        chance.choice([10.0, 20.0, 30.0, 40.0]) + chance.choice([0.0, 0.0, 1.5]),
        width=chance.choice([1.0, 5.0]),
        hour=chance.randrange(50),
        language=chance.choice(list(Language)),
    )


def change(platform: Platform, chance: random.Random) -> None:
    """Rare changes: one entry is removed, measured differently, withdrawn or put back, or its owner becomes staff."""
    row = SubmissionRow
    with writing(platform.sessions) as session:
        ids = session.scalars(select(row.id).where(row.verdict == "accepted")).all()
        if not ids:
            return
        one = chance.choice(ids)
        match chance.randrange(4):
            case 0:
                session.execute(update(row).where(row.id == one).values(verdict="wrong_answer"))
            case 1:
                session.execute(update(row).where(row.id == one).values(ci_hi_us=row.ci_hi_us * 1.5))
            case 2:
                user = session.scalar(select(row.user_id).where(row.id == one))
                role = chance.choice([Role.STAFF, Role.STUDENT])
                session.execute(update(UserRow).where(UserRow.id == user).values(role=role))
            case 3:
                at = chance.choice([utcnow(), None])
                session.execute(update(row).where(row.id == one).values(withdrawn_at=at))


@pytest.mark.parametrize("seed", range(2))
def test_a_continued_ranking_equals_a_fresh_one(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(board_snapshots, "_WINDOW", 5)
    chance = random.Random(seed)
    people = [person(platform, f"user{n}") for n in range(6)]
    people.append(person(platform, "teacher", Role.STAFF))
    for step in range(STEPS):
        for _ in range(chance.choice([1, 1, 1, 3])):
            come(platform, chance, people)
        if chance.random() < 0.2:
            change(platform, chance)
        assert seen(platform) == anew(platform), f"step {step} of seed {seed}"


def test_a_new_entry_is_inserted_without_a_full_read(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, people = random.Random(7), [person(platform, f"user{n}") for n in range(4)]
    come(platform, chance, people)
    seen(platform)
    for _ in range(10):
        come(platform, chance, people)
        expected = anew(platform)
        with monkeypatch.context() as patched:
            patched.setattr(board_snapshots, "read_snapshot", pytest.fail)
            assert seen(platform) == expected


def test_an_arrival_and_a_removal_at_once_are_noticed(platform: Platform) -> None:
    ada, bob = person(platform, "ada"), person(platform, "bob")
    enter(platform, ada, 10.0)
    assert [entry.user for entry in leaderboard(platform, SLUG).entries] == ["ada"]
    enter(platform, bob, 20.0)
    with writing(platform.sessions) as session:
        session.execute(delete(SubmissionRow).where(SubmissionRow.user_id == ada.id))
    assert [entry.user for entry in leaderboard(platform, SLUG).entries] == ["bob"]


def test_rankings_unused_for_long_are_dropped(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.service.boards.rankings._KEPT_ENTRIES", 3)
    for name in ("ada", "bob"):
        enter(platform, person(platform, name), 10.0, language=Language.CUDA)
    reads = []
    read = board_snapshots.read_snapshot
    monkeypatch.setattr(board_snapshots, "read_snapshot", lambda *of: reads.append(of) or read(*of))
    both = leaderboard(platform, SLUG)
    assert leaderboard(platform, SLUG, language="cuda").total == both.total == 2
    leaderboard(platform, SLUG, language="cuda")
    assert len(reads) == 2
    leaderboard(platform, SLUG)
    assert len(reads) == 3
