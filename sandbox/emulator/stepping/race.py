"""A race of two blocks in both orders: one runs first, then the other up to its access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .walk import Index, TooLong, Touch, Walk

if TYPE_CHECKING:
    from .recorder import Kept, Run

_MOST_BYTES = 32


@dataclass(frozen=True)
class Side:
    """A block, and its thread's access."""

    block: int
    index: Index
    thread: Index
    writes: bool
    place: int = -1  # of Lowered.places; -1: any


def in_order(
    run: Run, kept: Kept, address: int, size: int, sides: tuple[Side, Side]
) -> dict[str, Any] | None:
    """One block, then the other up to its access: ``blocks``, ``indices``, ``rows``, ``accesses`` (see
    ``StepAccess``), ``places``. None: an access does not come, or a block is too long.
    """
    walk = Walk(run, kept)
    first, second = sides
    size = min(size, _MOST_BYTES)
    try:
        earlier = [touch for touch in walk.touches(first.block, address, size) if _is_of(walk, touch, first)]
        count = walk.rows
        later = next(
            (touch for touch in walk.touches(second.block, address, size) if _is_of(walk, touch, second)),
            None,
        )
    except TooLong:
        return None
    if not earlier or later is None:
        return None
    # The other finds its last write.
    mine = earlier[-1] if first.writes else earlier[0]
    return {
        "blocks": [first.block, second.block],
        "indices": [list(first.index), list(second.index)],
        "rows": [count, later.row + 1],
        "places": [mine.place, later.place],
        "accesses": [
            _described(kept, walk, first, mine, 0),
            _described(kept, walk, second, later, count),
        ],
    }


def _is_of(walk: Walk, touch: Touch, side: Side) -> bool:
    at_place = side.place in (-1, touch.place)
    return (
        at_place
        and walk.thread(touch.thread) == side.thread
        and (touch.writes if side.writes else touch.reads)
    )


def _described(kept: Kept, walk: Walk, side: Side, touch: Touch, before: int) -> dict[str, Any]:
    return {
        "block": list(side.index),
        "thread": list(walk.thread(touch.thread)),
        "line": kept.lowered.places[touch.place].line,
        "reads": touch.reads,
        "writes": touch.writes,
        "row": before + touch.row,
        "before": touch.before.hex(),
        "after": touch.after.hex(),
    }
