"""The thread that would write an element, by the index that other elements' writers use.

``mapped`` claims nothing that an element contradicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from .walk import Index

# Elements that must agree.
_FEWEST = 4
# Near the missing one, and everywhere.
_AROUND = 2048
_SPREAD = 512
# Adjacent elements of one thread, and distances within which one index is tried.
_STEPS = (1, 2, 4, 8)
_WINDOWS = (1 << 62, 512, 64, 16)
# From the missing element's block to a writer's.
_FAR = 64


@dataclass(frozen=True)
class Wrote:
    """``work``: the launch's number."""

    work: int
    block: Index
    thread: Index


@dataclass(frozen=True)
class Would:
    """``block`` may be outside the ``grid``, and if the grid has one block, ``thread`` outside the block.
    ``wrote`` wrote ``like`` by the same index.
    """

    block: Index
    thread: Index
    grid: Index
    like: int
    wrote: Wrote


def asked(place: int, shape: Sequence[int]) -> list[int]:
    """Elements whose writers decide: near a place, in its column, and some of all."""
    total, width = prod(shape), shape[-1] if shape else 1
    wanted = set(range(max(0, place - _AROUND), min(total, place + _AROUND + 1)))
    wanted.update(range(0, total, max(1, total // _SPREAD)))
    wanted.update(place + width * row for row in range(-_FAR, _FAR + 1) if 0 <= place + width * row < total)
    return sorted(wanted)


def mapped(
    place: int,
    writers: Mapping[int, Wrote],
    grid: Index,
    threads: Index,
    shape: Sequence[int],
    *,
    programs: bool = False,
) -> Would | None:
    """``writers``: by element, of one launch. ``programs``: Triton assigned the threads. None: no index
    explains them, or several do.
    """
    rows = Rows(shape)
    try:
        found = _by_index(place, writers, grid, threads, rows) if not programs else None
    except _Ambiguous:
        return None
    return found if found is not None else _of_neighbours(place, writers, grid, rows)


class _Ambiguous(Exception):
    """Several threads would write the element."""


class Rows:
    """An index along a row does not go on in the next, unless writers do."""

    def __init__(self, shape: Sequence[int]) -> None:
        self._shape = tuple(shape)
        self._strides = [prod(self._shape[axis + 1 :]) for axis in range(len(self._shape))]

    def keep(self, element: int, other: int, steps: Iterable[tuple[int, int]]) -> bool:
        """Whether steps stay in the row. ``steps``: factor and count per coordinate, along the outermost
        dimension that the factor divides by.
        """
        left = [(other // stride - element // stride) * stride for stride in self._strides]
        left = [far - (left[axis - 1] if axis else 0) for axis, far in enumerate(left)]
        for factor, count in steps:
            if factor:
                axis = next(axis for axis, stride in enumerate(self._strides) if factor % stride == 0)
                left[axis] -= factor * count
        return not any(left)


# ---- an index that is linear in the block's and the thread's


def _by_index(
    place: int, writers: Mapping[int, Wrote], grid: Index, threads: Index, rows: Rows
) -> Would | None:
    for window, step in product(_WINDOWS, _STEPS):
        chosen = {
            element: wrote
            for element, wrote in writers.items()
            if abs(element - place) <= window and (element - place) % step == 0
        }
        if len(chosen) < _FEWEST:
            continue
        factors = _factors([(element, (*wrote.block, *wrote.thread)) for element, wrote in chosen.items()])
        if factors is None:
            continue
        like = min(chosen, key=lambda element: abs(element - place))
        wrote = chosen[like]
        found = list(_solutions(place - like, factors, wrote, grid, threads))
        inside = [each for each in found if all(at < size for at, size in zip(each[0], grid, strict=True))]
        if not found and grid == (1, 1, 1):
            found = list(_beyond_the_block(place - like, factors, wrote, threads))
        if len(inside or found) > 1:
            raise _Ambiguous
        if not found:
            continue
        block, thread = (inside or found)[0]
        would = Would(block, thread, grid, like, wrote)
        at = {like: (*wrote.block, *wrote.thread), place: (*block, *thread)}
        at |= {element: (*each.block, *each.thread) for element, each in chosen.items()}
        kept = {
            element: rows.keep(
                like,
                element,
                [(factor or 0, a - b) for factor, a, b in zip(factors, here, at[like], strict=True)],
            )
            for element, here in at.items()
        }
        # It may run through the whole array.
        if kept.pop(place) or not all(kept.values()):
            return would
    return None


def _beyond_the_block(
    distance: int, factors: Sequence[int | None], like: Wrote, threads: Index
) -> Iterator[tuple[Index, Index]]:
    """With more threads along the farthest axis."""
    axis = max(range(3), key=lambda each: abs(factors[3 + each] or 0))
    far = factors[3 + axis]
    if not far:
        return
    sizes = [1 << 20 if each == axis else size for each, size in enumerate(threads)]
    rest = distance + sum((factor or 0) * at for factor, at in zip(factors[3:], like.thread, strict=True))
    others = [
        range(size) if factor and each != axis else (at,)
        for each, (size, factor, at) in enumerate(zip(sizes, factors[3:], like.thread, strict=True))
    ]
    for thread in product(*others):
        left = rest - sum((factors[3 + each] or 0) * at for each, at in enumerate(thread) if each != axis)
        if left % far == 0 and threads[axis] <= left // far < sizes[axis]:
            beyond = list(thread)
            beyond[axis] = left // far
            yield like.block, (beyond[0], beyond[1], beyond[2])


def _factors(samples: Sequence[tuple[int, tuple[int, ...]]]) -> list[int | None] | None:
    """Of block and thread, x y z; None for one that never differs. None: no index fits, or several do."""
    first, base = samples[0]
    rows: list[tuple[int, list[Fraction]]] = []
    for element, at in samples[1:]:
        row = [Fraction(here - there) for here, there in zip(at, base, strict=True)] + [
            Fraction(element - first)
        ]
        for pivot, known in rows:
            if row[pivot]:
                times = row[pivot]
                row = [here - times * there for here, there in zip(row, known, strict=True)]
        pivot = next((index for index in range(len(base)) if row[index]), -1)
        if pivot < 0:
            if row[-1]:
                return None
            continue
        lead = row[pivot]
        row = [value / lead for value in row]
        rows = [
            (other, [here - known[pivot] * there for here, there in zip(known, row, strict=True)])
            for other, known in rows
        ]
        rows.append((pivot, row))
    found: list[int | None] = [None] * len(base)
    for pivot, row in rows:
        # A coordinate that always changes along could be the cause.
        if any(row[index] for index in range(len(base)) if index != pivot) or row[-1].denominator != 1:
            return None
        found[pivot] = int(row[-1])
    return found


def _solutions(
    distance: int, factors: Sequence[int | None], like: Wrote, grid: Index, threads: Index
) -> Iterator[tuple[Index, Index]]:
    """Blocks and threads ``distance`` elements behind ``like``; blocks may be beyond the grid."""
    choices = [
        range(size) if factor else (here,)
        for size, factor, here in zip(threads, factors[3:], like.thread, strict=True)
    ]
    axes = sorted((axis for axis in range(3) if factors[axis]), key=lambda axis: -abs(factors[axis] or 0))
    for thread in product(*choices):
        rest = distance - sum(
            (factor or 0) * (here - there)
            for factor, here, there in zip(factors[3:], thread, like.thread, strict=True)
        )
        block = list(like.block)
        for axis in axes:
            rest += (factors[axis] or 0) * like.block[axis]
        for axis in axes:
            block[axis], rest = divmod(rest, factors[axis] or 1)
        if rest == 0 and min(block) >= 0:
            yield (block[0], block[1], block[2]), (thread[0], thread[1], thread[2])


# ---- the same thread of a neighbouring block


def _of_neighbours(place: int, writers: Mapping[int, Wrote], grid: Index, rows: Rows) -> Would | None:
    nearest: tuple[tuple[bool, int], Would] | None = None
    for axis in range(3):
        distance = _between_blocks(writers, axis)
        if not distance:
            continue
        goes_on = any(
            element + distance in writers and not rows.keep(element, element + distance, [(distance, 1)])
            for element in writers
        )
        for count in (sign * steps for steps in range(1, _FAR + 1) for sign in (1, -1)):
            like = place - count * distance
            wrote = writers.get(like)
            if wrote is None or wrote.block[axis] + count < 0:
                continue
            if not goes_on and not rows.keep(like, place, [(distance, count)]):
                continue
            block = list(wrote.block)
            block[axis] += count
            would = Would((block[0], block[1], block[2]), wrote.thread, grid, like, wrote)
            key = (block[axis] >= grid[axis], abs(count))
            if nearest is None or key < nearest[0]:
                nearest = key, would
            break
    return nearest[1] if nearest is not None else None


def _between_blocks(writers: Mapping[int, Wrote], axis: int) -> int:
    """Elements to the next block's along an axis; 0: unknown or varying."""
    by_thread: dict[Index, list[int]] = {}
    for element, wrote in writers.items():
        by_thread.setdefault(wrote.thread, []).append(element)
    tried = set[int]()
    for elements in list(by_thread.values())[:_FEWEST]:
        for first in elements[:64]:
            tried.update(
                second - first for second in elements if _follows(writers[first], writers[second], axis)
            )
    supported = {distance: _support(writers, axis, distance) for distance in sorted(tried)[:256]}
    best = max(supported, key=lambda distance: supported[distance], default=0)
    return best if supported.get(best, 0) >= _FEWEST else 0


def _support(writers: Mapping[int, Wrote], axis: int, distance: int) -> int:
    """Agreeing pairs; 0 if one differs."""
    count = 0
    for element, wrote in writers.items():
        other = writers.get(element + distance)
        if other is None:
            continue
        if not _follows(wrote, other, axis):
            return 0
        count += 1
    return count


def _follows(wrote: Wrote, other: Wrote, axis: int) -> bool:
    block = list(wrote.block)
    block[axis] += 1
    return other.block == tuple(block) and other.thread == wrote.thread
