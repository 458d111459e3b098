"""Rankings, cached in the process. Each request compares a few numbers from the board's index, so every process is up
to date. After a change, only new submissions are read if possible."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast

from cachetools import FIFOCache
from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.device_kinds import resolution_of
from grader.records import board_snapshots, names, ranks
from grader.records.board_snapshots import BoardSnapshot, Stamp
from grader.records.models import ReportRow
from grader.records.ranks import Board, BoardEntry, Detail, Place, record_steps
from grader.schemas.account import STAFF_ROLES
from grader.schemas.leaderboard import Reference, ReferenceKind
from grader.scoring import geometric_mean

T = TypeVar("T")

# Some 500 bytes each: up to 150 MiB.
_KEPT_ENTRIES = 300_000
_KEPT_DERIVED = 64


@dataclass(frozen=True)
class ReportFacts:
    references: list[Reference]
    left_out: list[str]


@dataclass
class Ranking:
    """One moment. All but the places is read on first use."""

    board: Board
    standing: BoardSnapshot
    staff: list[int]
    """ids of users without a rank"""
    _details: dict[int, Detail] = field(default_factory=dict)
    _steps: list[Place] | None = None
    _facts: ReportFacts | None = None

    @property
    def stamp(self) -> Stamp:
        return (*self.standing.stamp, *self.staff)

    @cached_property
    def places(self) -> list[Place]:
        return ranks.in_order(self.standing.entries.values(), resolution_of(self.board.device))

    @cached_property
    def of_user(self) -> dict[int, int]:
        return {place.user: number for number, place in enumerate(self.places)}

    def details(self, session: Session, shown: Sequence[Place]) -> dict[int, Detail]:
        missing = [place.submission for place in shown if place.submission not in self._details]
        if missing:
            self._details.update(ranks.details(session, missing))
        return self._details

    def steps(self, session: Session) -> list[Place]:
        if self._steps is None:
            self._steps = record_steps(session, self.board, self.staff)
        return self._steps

    def references(self, session: Session) -> list[Reference]:
        return self._of_reports(session).references

    def left_out(self, session: Session) -> list[str]:
        """Cases left out when the best entry was judged."""
        return self._of_reports(session).left_out

    def _of_reports(self, session: Session) -> ReportFacts:
        if self._facts is None:
            best = ranks.best_of(session, self.board, self.staff) if self.staff else None
            self._facts = report_facts(session, self.places, best)
        return self._facts

    def followed_by(self, standing: BoardSnapshot, came: Sequence[BoardEntry]) -> Ranking:
        """Keeps what new submissions do not change."""
        after = Ranking(self.board, standing, self.staff, self._details)
        ranked = [entry for entry in came if entry.user not in self.staff]
        if not self._lower_records(ranked):
            after._steps = self._steps
        if len(ranked) == len(came) and after._asked == self._asked:
            after._facts = self._facts
        return after

    def _lower_records(self, came: Sequence[BoardEntry]) -> bool:
        """True if one of them may be a record."""
        best = min(self.standing.entries.values(), key=lambda entry: entry.time_us, default=None)
        return best is None or any(entry.time_us < best.time_us or entry.at <= best.at for entry in came)

    @property
    def _asked(self) -> list[int]:
        return [place.submission for place in self.places[:ASKED]]


class Rankings:
    def __init__(self) -> None:
        self._kept: OrderedDict[Board, Ranking] = OrderedDict()
        self._derived: FIFOCache[tuple[Hashable, ...], tuple[list[Stamp], object]] = FIFOCache(_KEPT_DERIVED)
        self._lock = threading.Lock()

    def of(self, session: Session, board: Board) -> Ranking:
        staff = unranked(session)
        # First, so the next request finds changes in between.
        return self._at(session, board, board_snapshots.stamp(session, board), staff)

    def of_device(self, session: Session, boards: Sequence[Board], device: str) -> list[Ranking]:
        staff, stamps = unranked(session), board_snapshots.stamps(session, device)
        return [
            self.of(session, board)
            if board.until is not None
            else self._at(session, board, stamps.get(board, board_snapshots.EMPTY), staff)
            for board in boards
        ]

    def _at(self, session: Session, board: Board, stamp: Stamp, staff: list[int]) -> Ranking:
        with self._lock:
            kept = self._kept.get(board)
            if kept is not None and kept.staff == staff and kept.standing.stamp == stamp:
                self._kept.move_to_end(board)
                return kept
        ranking = None
        if kept is not None and kept.staff == staff:
            moved = board_snapshots.snapshot_after(session, board, kept.standing, stamp, staff)
            ranking = kept.followed_by(*moved) if moved else None
        if ranking is None:
            ranking = Ranking(board, board_snapshots.read_snapshot(session, board, stamp, staff), staff)
        with self._lock:
            self._keep(ranking)
        return ranking

    def _keep(self, ranking: Ranking) -> None:
        self._kept[ranking.board] = ranking
        self._kept.move_to_end(ranking.board)
        entries = sum(len(kept.standing.entries) for kept in self._kept.values())
        while entries > _KEPT_ENTRIES and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            entries -= len(gone.standing.entries)

    def derived(self, rankings: Sequence[Ranking], make: Callable[[Sequence[Ranking]], T]) -> T:
        """Cached while no ranking changes."""
        key = (make.__qualname__, *(ranking.board for ranking in rankings))
        stamps = [ranking.stamp for ranking in rankings]
        with self._lock:
            kept = self._derived.get(key)
        if kept is not None and kept[0] == stamps:
            return cast("T", kept[1])
        made = make(rankings)
        with self._lock:
            self._derived[key] = (stamps, made)
        return made


def unranked(session: Session) -> list[int]:
    return names.with_roles(session, STAFF_ROLES)


# The first may be pruned or from an old release.
ASKED = 5
_EAGER = "eager"


def report_facts(session: Session, places: Sequence[Place], staff: Place | None) -> ReportFacts:
    """Fastest first, from any report: baselines and ceilings are fixed. Geometric means over ranked workloads."""
    asked = [*places[:ASKED], *([staff] if staff else [])]
    reports = (_report(session, place.submission) for place in asked)
    said: dict[str, Any] = next((report for report in reports if _ranked_workloads(report)), {})
    return ReportFacts(_references(_ranked_workloads(said), staff), list(said.get("left_out", ())))


def _references(workloads: Sequence[dict[str, Any]], staff: Place | None) -> list[Reference]:
    times = _baselines(workloads)
    light = _mean(workload.get("roofline_us") for workload in workloads)
    eager = times.get(_EAGER)
    found = [_reference(ReferenceKind.BASELINE, name, time, eager, light) for name, time in times.items()]
    if light is not None:
        found.append(_reference(ReferenceKind.ROOFLINE, "speed of light", light, eager, light))
    if staff is not None:
        own = _reference(ReferenceKind.STAFF, "staff solution", staff.time_us, eager, light)
        found.append(own.model_copy(update={"ci_us": (staff.low_us, staff.high_us)}))
    return sorted(found, key=lambda entry: entry.time_us)


def _reference(
    kind: ReferenceKind, name: str, time_us: float, eager: float | None, light: float | None
) -> Reference:
    return Reference(
        kind=kind,
        name=name,
        time_us=time_us,
        speedup=eager / time_us if eager is not None else None,
        sol=light / time_us if light is not None else None,
    )


def _report(session: Session, submission: int) -> dict[str, Any]:
    """Unvalidated; empty if it is gone."""
    body = session.scalar(
        select(ReportRow.body)
        .where(ReportRow.submission_id == submission)
        .order_by(ReportRow.attempt.desc())
        .limit(1)
    )
    stored: dict[str, Any] = json.loads(body) if body else {}
    return stored


def _ranked_workloads(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [workload for workload in report.get("workloads", []) if workload.get("ranked")]


def _baselines(workloads: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Baselines that all workloads have."""
    names = [list(workload.get("baselines_us", {})) for workload in workloads]
    means = {
        name: _mean(workload["baselines_us"].get(name) for workload in workloads)
        for name in (names[0] if names else [])
    }
    return {name: mean for name, mean in means.items() if mean is not None}


def _mean(values: Iterable[float | None]) -> float | None:
    """The geometric mean; None if a value is missing."""
    given = list(values)
    known = [value for value in given if value is not None and value > 0]
    return geometric_mean(known) if known and len(known) == len(given) else None
