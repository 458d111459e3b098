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

# Grids of at most this many clusters run whole.
WHOLE = 64
# Bytes that a call fills in large arrays, and warp instructions of each launch: one or two seconds.
ENOUGH_BYTES, MOST_BYTES = 32 << 20, 192 << 20
ENOUGH_ROWS, MOST_ROWS = 8 << 20, 40 << 20
# The same for a cooperative grid, which needs all of its blocks.
MOST_COOPERATIVE_ROWS = 1 << 20
# Blocks drawn at random in addition.
_BY_CHANCE = 8
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


@dataclass
class Sample:
    """The sample of one call: chooses blocks and records what ran.

    ``incomplete``: why more than blocks was left out, or empty; anything later may go wrong only because of that.
    ``guessed``: values that were never written decided what the call did. ``combined``: blocks combined results by
    atomics, so results may be wrong."""

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
        """True if blocks were left out, so later launches may read values that were not written."""
        return any(launch.ran < launch.blocks for launch in self.launches)

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
