"""Chooses the blocks of a launch that run if all would take too long: those that probably work on chosen elements.

The mapping of blocks to elements is unknown. Most kernels go through an array in element order, or give each block a
tile with its columns along x or y. So for each element the blocks of these three guesses run, and those at the grid's
corners. After ``ENOUGH`` work no further block begins; after ``MOST`` the launch ends.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

# Grids of at most this many clusters run whole.
WHOLE = 64
# Bytes that a call fills in large arrays, and warp instructions of each launch: one or two seconds.
ENOUGH_BYTES, MOST_BYTES = 32 << 20, 192 << 20
ENOUGH_ROWS, MOST_ROWS = 8 << 20, 40 << 20
# The same for a cooperative grid, which needs all of its blocks.
MOST_COOPERATIVE_ROWS = 1 << 20
# Blocks drawn at random in addition.
_BY_CHANCE = 8
# Of a counted sample. Groups of this many blocks run side by side, as the engine runs a whole launch.
_SIDE_BY_SIDE = 4
# The most parts that a grid is divided into. One group of each is counted.
_STRATA = 1024
# No further group begins after this many warp instructions of a launch, a fraction of a second; a launch ends after
# the second number.
COUNTED_ENOUGH_ROWS, COUNTED_MOST_ROWS = 5 << 20, 192 << 20
_NO_LIMIT = 1 << 63
_GOLDEN = 0.6180339887498949
# A counted group, its neighbours, and groups at the ends of the grid: enum sample_part of engine.h.
_COUNTS, _WARMS, _ENDS = range(3)
# Elements beyond this index are few, and get more targets than their share.
_BEYOND = 1 << 31


@dataclass(frozen=True)
class Target:
    """An element: its flat index in an array of ``shape``."""

    index: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Ran:
    """How many of a launch's blocks ran. ``fair``: of these, blocks chosen without preference; the others are at the
    edges of the grid, where a block may have nothing to do."""

    kernel: str
    blocks: int
    ran: int
    fair: int
    # Of warps of all blocks, estimated from those that ran; of a matrix product as many as take the engine that time.
    instructions: int


@dataclass(frozen=True)
class Chosen:
    """The clusters of a launch that run, in order; ``numbers`` None: all. ``fair``: see ``Ran``; None: all of them.
    ``enough``, ``most``, ``groups``, ``parts``: see struct sample of engine.h."""

    numbers: Sequence[int] | None = None
    fair: Sequence[bool] | None = None
    enough: tuple[int, int] = (_NO_LIMIT, _NO_LIMIT)  # bytes, rows
    most: tuple[int, int] = (_NO_LIMIT, _NO_LIMIT)
    groups: Sequence[int] = ()
    parts: Sequence[int] = ()
    fill: bool = False


@dataclass
class Sample:
    """The sample of one call: chooses blocks and records what ran.

    ``incomplete``: why more than blocks was left out, or empty; anything later may go wrong only because of that.
    ``guessed``: values that were never written decided what the call did. ``combined``: blocks combined results by
    atomics, so results may be wrong. ``uneven``: blocks of a counted launch differ in work."""

    targets: Sequence[Target]
    seed: int
    # Bytes of a copy or memset that are done.
    copied_bytes: ClassVar[int] = ENOUGH_BYTES

    launches: list[Ran] = field(default_factory=list)
    incomplete: str = ""
    guessed: bool = False
    combined: bool = False
    uneven: bool = False

    def begin(self) -> None:
        self.launches, self.incomplete = [], ""
        self.guessed = self.combined = self.uneven = False

    def leave_out(self, why: str) -> None:
        self.incomplete = self.incomplete or why

    @property
    def partial(self) -> bool:
        """True if blocks were left out, so later launches may read values that were not written."""
        return any(launch.ran < launch.blocks for launch in self.launches)

    def choose(self, grid: Sequence[int], of_cluster: int, *, cooperative: bool, coordinates: bool) -> Chosen:
        """``grid``: clusters x y z of ``of_cluster`` blocks each. ``coordinates``: see ``Lowered``."""
        # A cooperative grid waits for all of its blocks, so all run, for a while, which shows faults.
        numbers = None if cooperative else self.clusters(grid)
        most_rows = MOST_COOPERATIVE_ROWS if cooperative else MOST_ROWS
        bytes_and_rows = (ENOUGH_BYTES, ENOUGH_ROWS), (MOST_BYTES, most_rows)
        if numbers is None:
            return Chosen(None, None, *bytes_and_rows)
        return Chosen(list(numbers), list(numbers.values()), *bytes_and_rows)

    def clusters(self, grid: Sequence[int]) -> dict[int, bool] | None:
        """Numbers of the clusters that run, the most telling first, and whether each is fair (see ``Ran``); None:
        all."""
        x, y, z = grid
        total = x * y * z
        if total <= WHOLE:
            return None
        dice = random.Random(f"{self.seed} {x} {y} {z}")  # noqa: S311 - its seed is secret
        found = dict.fromkeys([0, total - 1, x - 1, x * (y - 1), x * y - 1], False)
        for target in self.targets:
            elements = math.prod(target.shape)
            linear = target.index * total // elements
            guessed = [linear, linear + 1, linear - 1]
            if y > 1 and len(target.shape) == 2:
                rows, columns = target.shape
                row, column = divmod(target.index, columns)
                guessed.append(row * y // rows * x + column * x // columns)
                guessed.append(column * y // columns * x + row * x // rows)
            for number in guessed:
                found.setdefault(number, target.index < min(_BEYOND, elements - 1))
        for number in [dice.randrange(total) for _ in range(_BY_CHANCE)]:
            found.setdefault(number, True)
        return {number: fair for number, fair in found.items() if 0 <= number < total}


def _evenly(count: int, begin: float) -> list[int]:
    """All numbers below ``count``, so that those before any place are spread evenly. ``begin``: below 1."""
    order = (int(count * ((begin + turn * _GOLDEN) % 1.0)) for turn in range(8 * count))
    return list(dict.fromkeys([*order, *range(count)]))


@dataclass
class CountedSample(Sample):
    """Chooses blocks of which the work of a whole launch can be estimated.

    The grid is divided into strata. In each, one group counts, after those ahead of it in x, y and z have brought into
    the caches what neighbours share. The groups at the ends of the grid count for the longest path alone, because
    their blocks may have more or less to do. In between, blocks that probably work on chosen elements run, so that left
    out work shows. Arrays are those of any call."""

    copied_bytes = _NO_LIMIT

    #: All other blocks run too, uncounted, so results are those of the whole launch.
    fill: bool = False

    def choose(self, grid: Sequence[int], of_cluster: int, *, cooperative: bool, coordinates: bool) -> Chosen:
        total, size = math.prod(grid), max(1, _SIDE_BY_SIDE // of_cluster)
        count = total // size
        if cooperative or coordinates or count * size * of_cluster <= WHOLE:
            return Chosen(most=(_NO_LIMIT, _NO_LIMIT if self.fill else COUNTED_MOST_ROWS))
        dice = random.Random(f"{self.seed} {total}")  # noqa: S311 - its seed is secret
        numbers: list[int] = []
        groups: list[int] = []
        parts: list[int] = []
        used: set[int] = set()

        def run(wanted: Sequence[int], part: int) -> None:
            group = groups[-1] + 1 if groups else 0
            for number in wanted:
                if 0 <= number < total and number not in used:
                    used.add(number)
                    numbers.append(number)
                    groups.append(group)
                    parts.append(part)

        x, y, z = grid
        apart = [shift for shift, there in ((size, x > 1), (x, y > 1), (x * y, z > 1)) if there]
        strata = min(count, _STRATA)
        targets = [number for number in self.clusters(grid) or () if number not in (0, total - 1)]
        run(range(size), _ENDS)  # first of all, when caches are empty
        for turn, stratum in enumerate(_evenly(strata, dice.random())):
            first = size * dice.randrange(stratum * count // strata, (stratum + 1) * count // strata)
            group = range(first, first + size)
            if used.intersection(group):
                continue
            for shift in apart:
                run([number - shift for number in group], _WARMS)
            run(group, _COUNTS)
            if turn == 0:
                run(range(total - size, total), _ENDS)
            if targets:
                run([targets.pop(0)], _WARMS)
        return Chosen(
            numbers,
            None,
            (_NO_LIMIT, COUNTED_ENOUGH_ROWS),
            (_NO_LIMIT, _NO_LIMIT if self.fill else COUNTED_MOST_ROWS),
            groups,
            parts,
            self.fill,
        )
