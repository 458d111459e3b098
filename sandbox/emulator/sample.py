"""Chooses a launch's blocks if all take too long: those that probably work on chosen elements.

Most kernels go through an array in order, or have tiles whose columns run along x or y. Blocks of these three
guesses run, and the grid's corners.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

WHOLE = 64
# One or two seconds.
ENOUGH_BYTES, MOST_BYTES = 32 << 20, 192 << 20
ENOUGH_ROWS, MOST_ROWS = 8 << 20, 40 << 20
MOST_COOPERATIVE_ROWS = 1 << 20
_BY_CHANCE = 8
# As the engine runs neighbours in a whole launch.
_SIDE_BY_SIDE = 4
# One group of each part is counted.
_STRATA = 1024
# Warp instructions, a fraction of a second: no group begins after the first, none runs after the second.
COUNTED_ENOUGH_ROWS, COUNTED_MOST_ROWS = 5 << 20, 192 << 20
_NO_LIMIT = 1 << 63
_GOLDEN = 0.6180339887498949
# enum sample_part: a counted group, its neighbours, the grid's ends.
_COUNTS, _WARMS, _ENDS = range(3)
# The few elements beyond 32 bits get more targets.
_BEYOND = 1 << 31


@dataclass(frozen=True)
class Target:
    index: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Ran:
    """How many blocks ran; ``fair``: of these, not at an edge, where a block may have nothing to do."""

    kernel: str
    blocks: int
    ran: int
    fair: int
    # Warps' of all blocks, estimated; matrix products count by the engine's time.
    instructions: int


@dataclass(frozen=True)
class Chosen:
    """A launch's clusters in order; ``numbers`` None: all. ``fair``: see ``Ran``. Others: struct sample."""

    numbers: Sequence[int] | None = None
    fair: Sequence[bool] | None = None
    enough: tuple[int, int] = (_NO_LIMIT, _NO_LIMIT)
    most: tuple[int, int] = (_NO_LIMIT, _NO_LIMIT)
    groups: Sequence[int] = ()
    parts: Sequence[int] = ()
    fill: bool = False


@dataclass
class Sample:
    """A call's chosen blocks and what ran.

    ``incomplete``: why more was left out; later faults may come from it. ``guessed``: unwritten values
    decided what the call did. ``combined``: atomics, so results may be wrong. ``uneven``: counted blocks
    differ in work.
    """

    targets: Sequence[Target]
    seed: int
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
        """Blocks were left out, so later launches may read unwritten values."""
        return any(launch.ran < launch.blocks for launch in self.launches)

    def choose(self, grid: Sequence[int], of_cluster: int, *, cooperative: bool, coordinates: bool) -> Chosen:
        """``grid``: clusters of ``of_cluster`` blocks. ``coordinates``: see ``Lowered``."""
        # Its blocks wait for each other, so all run for a while.
        numbers = None if cooperative else self.clusters(grid)
        most_rows = MOST_COOPERATIVE_ROWS if cooperative else MOST_ROWS
        bytes_and_rows = (ENOUGH_BYTES, ENOUGH_ROWS), (MOST_BYTES, most_rows)
        if numbers is None:
            return Chosen(None, None, *bytes_and_rows)
        return Chosen(list(numbers), list(numbers.values()), *bytes_and_rows)

    def clusters(self, grid: Sequence[int]) -> dict[int, bool] | None:
        """The most telling first -> fair (see ``Ran``); None: all."""
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
    """Numbers below ``count``, any first part spread evenly. ``begin``: below 1."""
    order = (int(count * ((begin + turn * _GOLDEN) % 1.0)) for turn in range(8 * count))
    return list(dict.fromkeys([*order, *range(count)]))


@dataclass
class CountedSample(Sample):
    """Chooses blocks that represent a whole launch's work.

    One group counts per stratum of the grid, after its neighbours in x, y and z have filled the caches.
    Groups at the ends count only for the longest path: their work may differ. Blocks that probably work on
    chosen elements run too, so that left out work shows.
    """

    copied_bytes = _NO_LIMIT

    #: All others run uncounted, so results are whole.
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
        run(range(size), _ENDS)  # first, with empty caches
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
