"""Rankings, kept by the process that worked them out for as long as nothing on their boards has changed.

Whether it has is asked of the database at every look, by few numbers out of the board's index: so every process shows
what is true, and only the first look after a change ranks anew; where some merely came to the board, it reads these.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from sqlalchemy.orm import Session

from grader.records import names, ranks, standings
from grader.records.ranks import Board, BoardEntry, Detail, Place, Stamp
from grader.records.record_steps import record_steps
from grader.records.standings import BoardSnapshot
from grader.schemas.leaderboard import Reference
from grader.service.references import ASKED, references

T = TypeVar("T")

# Entries of all boards together. Some 500 bytes each: 150 MiB, where a process has looked at so many.
_KEPT_ENTRIES = 300_000
# What is worked out of several rankings.
_KEPT_DERIVED = 64


@dataclass
class Ranking:
    """One board at one moment. What is needed of it beyond the places is read when it is first asked for."""

    board: Board
    standing: BoardSnapshot
    staff: list[int]
    """ids of those who are not ranked"""
    _details: dict[int, Detail] = field(default_factory=dict)
    _steps: list[Place] | None = None
    _references: list[Reference] | None = None

    @property
    def stamp(self) -> Stamp:
        """Two of one board that have the same are the same."""
        return (*self.standing.stamp, *self.staff)

    @cached_property
    def places(self) -> list[Place]:
        return ranks.in_order(self.standing.entries.values())

    @cached_property
    def of_user(self) -> dict[int, int]:
        """How many entries stand before each user's."""
        return {place.user: number for number, place in enumerate(self.places)}

    def details(self, session: Session, shown: Sequence[Place]) -> dict[int, Detail]:
        missing = [place.submission for place in shown if place.submission not in self._details]
        if missing:
            self._details.update(ranks.details(session, missing))
        return self._details

    def steps(self, session: Session) -> list[Place]:
        """Records, the oldest first."""
        if self._steps is None:
            self._steps = record_steps(session, self.board, self.staff)
        return self._steps

    def references(self, session: Session) -> list[Reference]:
        if self._references is None:
            best = ranks.best_of(session, self.board, self.staff) if self.staff else None
            self._references = references(session, self.places, best)
        return self._references

    def followed_by(self, standing: BoardSnapshot, came: Sequence[BoardEntry]) -> Ranking:
        """The ranking after these came, with what they leave as it was."""
        after = Ranking(self.board, standing, self.staff, self._details)
        ranked = [it for it in came if it.user not in self.staff]
        if not self._lower_records(ranked):
            after._steps = self._steps
        if len(ranked) == len(came) and after._asked == self._asked:
            after._references = self._references
        return after

    def _lower_records(self, came: Sequence[BoardEntry]) -> bool:
        """Whether one of them may be a record: the best entry is none of a later time that is as good."""
        best = min(self.standing.entries.values(), key=lambda it: it.high_us, default=None)
        return best is None or any(it.high_us < best.high_us or it.at <= best.at for it in came)

    @property
    def _asked(self) -> list[int]:
        """Whose reports tell what the board is compared with."""
        return [it.submission for it in self.places[:ASKED]]


class Rankings:
    """Those of one process, the ones that were looked at last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Board, Ranking] = OrderedDict()
        self._derived: OrderedDict[tuple[Hashable, ...], tuple[list[Stamp], object]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session: Session, board: Board) -> Ranking:
        staff = unranked(session)
        # Before the places: what changes in between is found by the next look, which ranks once more.
        return self._at(session, board, ranks.stamp(session, board), staff)

    def of_device(self, session: Session, boards: Sequence[Board], device: str) -> list[Ranking]:
        """Of several boards of one device, for all languages."""
        staff, stamps = unranked(session), ranks.stamps(session, device)
        return [self._at(session, it, stamps.get(it, ranks.EMPTY), staff) for it in boards]

    def _at(self, session: Session, board: Board, stamp: Stamp, staff: list[int]) -> Ranking:
        with self._lock:
            kept = self._kept.get(board)
            if kept is not None and kept.staff == staff and kept.standing.stamp == stamp:
                self._kept.move_to_end(board)
                return kept
        ranking = None
        if kept is not None and kept.staff == staff:
            moved = standings.moved_on(session, board, kept.standing, stamp, staff)
            ranking = kept.followed_by(*moved) if moved else None
        if ranking is None:
            ranking = Ranking(board, standings.read(session, board, stamp, staff), staff)
        with self._lock:
            self._keep(ranking)
        return ranking

    def _keep(self, ranking: Ranking) -> None:
        self._kept[ranking.board] = ranking
        self._kept.move_to_end(ranking.board)
        entries = sum(len(it.standing.entries) for it in self._kept.values())
        while entries > _KEPT_ENTRIES and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            entries -= len(gone.standing.entries)

    def derived(self, rankings: Sequence[Ranking], make: Callable[[Sequence[Ranking]], T]) -> T:
        """What ``make`` works out of several rankings, for as long as none of them changes."""
        key = (make.__qualname__, *(it.board for it in rankings))
        stamps = [it.stamp for it in rankings]
        with self._lock:
            kept = self._derived.get(key)
        if kept is not None and kept[0] == stamps:
            return cast("T", kept[1])
        made = make(rankings)
        with self._lock:
            self._derived[key] = (stamps, made)
            while len(self._derived) > _KEPT_DERIVED:
                self._derived.popitem(last=False)
        return made


def unranked(session: Session) -> list[int]:
    """Ids of staff: theirs are what others measure themselves against."""
    from grader.service.accounts import STAFF_ROLES  # it needs the platform, which holds this

    return names.with_roles(session, STAFF_ROLES)
