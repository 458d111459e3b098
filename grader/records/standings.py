"""What a board is ranked from, and how it goes on: whoever comes to a board of ten thousand is put in, and the others
are not read again.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from grader.records import ranks
from grader.records.ranks import Board, BoardEntry, Stamp

# Who was handed in before so many others is judged, most likely. Where not, the board is read anew.
_WINDOW = 2_000
# More at once than this are read anew, too.
_MOST = 5_000
# A sum of times that the database made and one that we made may differ so much, relatively.
_SUMS_DIFFER = 1e-11


@dataclass(frozen=True)
class BoardSnapshot:
    """A board at one moment. ``entries`` are by their users; ``late`` are ids of all its accepted submissions (entries
    or not, ranked or not) above ``floor``.
    """

    stamp: Stamp
    entries: dict[int, BoardEntry]
    floor: int
    late: frozenset[int]


def read(session: Session, board: Board, stamp: Stamp, without: Collection[int]) -> BoardSnapshot:
    """All of it. ``stamp`` was read before; what changes in between is found by the next look."""
    floor = max(0, ranks.last_id(session) - _WINDOW)
    late = frozenset(it.submission for it in ranks.accepted_after(session, board, floor))
    entries = {it.user: it for it in ranks.entries(session, board, without)}
    return BoardSnapshot(stamp, entries, floor, late)


def moved_on(
    session: Session, board: Board, before: BoardSnapshot, stamp: Stamp, without: Collection[int]
) -> tuple[BoardSnapshot, list[BoardEntry]] | None:
    """The board now, as ``stamp`` says that it is, and what came to it, also from users ``without`` a rank. None where
    something else happened than that some came: then it has to be read.
    """
    late = ranks.accepted_after(session, board, before.floor)
    came = [it for it in late if it.submission not in before.late]
    stayed = len(late) - len(came) == len(before.late)
    if not stayed or len(late) > _MOST or not _accounts_for(came, before.stamp, stamp):
        return None
    entries = dict(before.entries)
    for it in (it for it in came if it.user not in without):
        own = entries.get(it.user)
        if own is None or it.order < own.order:
            entries[it.user] = it
    floor = max(before.floor, ranks.last_id(session) - _WINDOW)
    kept = frozenset(it.submission for it in late if it.submission > floor)
    return replace(before, stamp=stamp, entries=entries, floor=floor, late=kept), came


def _accounts_for(came: Collection[BoardEntry], before: Stamp, stamp: Stamp) -> bool:
    """Whether nothing but these came."""
    count, ids, times = (now - then for now, then in zip(stamp, before, strict=True))
    return (
        count == len(came)
        and ids == sum(it.submission for it in came)
        and math.isclose(
            times, math.fsum(it.high_us for it in came), rel_tol=0.0, abs_tol=_SUMS_DIFFER * stamp[-1]
        )
    )
