"""A board at one moment; updates read only its new submissions."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, func, select, text
from sqlalchemy.orm import Session

from grader.records.models import SubmissionRow
from grader.records.models.indexes import RANKED
from grader.records.ranks import Board, BoardEntry, accepted_after, conditions, entries, last_id

# Equal stamps mean equal rankings.
Stamp = tuple[float, ...]


EMPTY: Stamp = (0, 0, 0)


# The last digits of a sum depend on the order of summation.
_DIGITS = 12


def stamp(session: Session, board: Board) -> Stamp:
    """Changes with every submission that joins, leaves, or gets another time."""
    return _rounded(*session.execute(select(*_stamp()).where(*conditions(board))).one())


def stamps(session: Session, device: str) -> dict[Board, Stamp]:
    table = SubmissionRow
    found = session.execute(
        select(table.challenge, table.version, *_stamp())
        # An expression, so SQLite does not pick the index of ended submissions.
        .where(table.device.concat("") == device, text(RANKED))
        .group_by(table.challenge, table.version)
    )
    return {Board(challenge, version, device): _rounded(*numbers) for challenge, version, *numbers in found}


def _stamp() -> list[ColumnElement[Any]]:
    # With times: a new judgement keeps the id, and one submission may come while another goes.
    return [
        func.count(),
        func.sum(SubmissionRow.id),
        func.sum(SubmissionRow.time_us + SubmissionRow.ci_hi_us),
    ]


def _rounded(*found: float | None) -> Stamp:
    return tuple(
        float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else int(value or 0) for value in found
    )


# A submission with this many newer ones is almost surely judged.
_WINDOW = 2_000


_MOST = 5_000


# Between the database's sum of times and ours, relative.
_SUMS_DIFFER = 1e-11


@dataclass(frozen=True)
class BoardSnapshot:
    """``late``: ids above ``floor`` of all its accepted submissions."""

    stamp: Stamp
    entries: dict[int, BoardEntry]
    floor: int
    late: frozenset[int]


def read_snapshot(session: Session, board: Board, stamp: Stamp, without: Collection[int]) -> BoardSnapshot:
    """``stamp`` was read before, so the next call finds changes in between."""
    floor = max(0, last_id(session) - _WINDOW)
    late = frozenset(entry.submission for entry in accepted_after(session, board, floor))
    by_user = {entry.user: entry for entry in entries(session, board, without)}
    return BoardSnapshot(stamp, by_user, floor, late)


def snapshot_after(
    session: Session, board: Board, before: BoardSnapshot, stamp: Stamp, without: Collection[int]
) -> tuple[BoardSnapshot, list[BoardEntry]] | None:
    """The board as of ``stamp``, and its new submissions, including those ``without`` a rank. None if
    anything else changed.
    """
    late = accepted_after(session, board, before.floor)
    came = [entry for entry in late if entry.submission not in before.late]
    stayed = len(late) - len(came) == len(before.late)
    if not stayed or len(late) > _MOST or not _accounts_for(came, before.stamp, stamp):
        return None
    by_user = dict(before.entries)
    for entry in (entry for entry in came if entry.user not in without):
        own = by_user.get(entry.user)
        if own is None or entry.order < own.order:
            by_user[entry.user] = entry
    floor = max(before.floor, last_id(session) - _WINDOW)
    kept = frozenset(entry.submission for entry in late if entry.submission > floor)
    return replace(before, stamp=stamp, entries=by_user, floor=floor, late=kept), came


def _accounts_for(came: Collection[BoardEntry], before: Stamp, stamp: Stamp) -> bool:
    count, ids, times = (now - then for now, then in zip(stamp, before, strict=True))
    return (
        count == len(came)
        and ids == sum(entry.submission for entry in came)
        and math.isclose(
            times,
            math.fsum(entry.time_us + entry.high_us for entry in came),
            rel_tol=0.0,
            abs_tol=_SUMS_DIFFER * stamp[-1],
        )
    )
