"""Which blocks of a launch run where all would take too long: those that most likely work on chosen elements.

Nobody says which block works on which element. Most kernels go through an array in the order of its elements, or give
each block a tile of it, its columns along x or along y. So for each element the blocks of these three guesses run,
and those at the grid's corners. Once ``ENOUGH`` work is done, no further block begins; at ``MOST``, the launch ends.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

# Grids of so few clusters run as a whole.
WHOLE = 64
# Of what a call fills in large arrays, in bytes, and of each launch's instructions of warps: a second or two.
ENOUGH_BYTES, MOST_BYTES = 32 << 20, 192 << 20
ENOUGH_ROWS, MOST_ROWS = 8 << 20, 40 << 20
# The same of a grid that waits as a whole, so that no block of it can be left out.
MOST_COOPERATIVE_ROWS = 1 << 20
# Blocks drawn at random beside those that are chosen.
_BY_CHANCE = 8
# Elements from here on, few of all, have more targets than their share.
_BEYOND = 1 << 31


@dataclass(frozen=True)
class Target:
    """An element, by its flat index in an array of ``shape``."""

    index: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Ran:
    """Of a launch: its blocks, and how many of them ran. ``fair``: of these, how many were chosen as if from all alike;
    the others lie at the edges of the grid, where a block may have nothing to do."""

    kernel: str
    blocks: int
    ran: int
    fair: int


@dataclass
class Sample:
    """Of one call: which blocks of its launches run, and what became of them. ``incomplete``: why more of the call than
    blocks was left out, or nothing; whatever comes behind that may go wrong for this reason alone. ``guessed``: so may
    what it does, because values that were never written decide it. ``combined``: so may what it writes, because blocks
    put it together by atomics."""

    targets: Sequence[Target]
    seed: int
    launches: list[Ran] = field(default_factory=list)
    incomplete: str = ""
    guessed: bool = False
    combined: bool = False

    def begin(self) -> None:
        self.launches, self.incomplete, self.guessed, self.combined = [], "", False, False

    def leave_out(self, why: str) -> None:
        self.incomplete = self.incomplete or why

    @property
    def partial(self) -> bool:
        """Whether blocks were left out, so that later launches may read what was not written."""
        return any(launch.ran < launch.blocks for launch in self.launches)

    def clusters(self, grid: Sequence[int]) -> dict[int, bool] | None:
        """Numbers of those that run, of a grid of so many clusters, the most telling first; None: all. Of each, whether
        it is fair, see ``Ran``."""
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
