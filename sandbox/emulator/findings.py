"""What a launch did wrong, and where in the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lower import Lowered
from .names import FINDING, SPACE
from .ptx import NOWHERE, Place

KINDS = ("", *(name.lower() for name in FINDING))


OF_SHARED = frozenset(
    KINDS.index(kind)
    for kind in (
        "shared_race", "warp_race", "async_race", "no_proxy_fence", "mbarrier_uninitialised", "mbarrier_overrun",
        "cluster_exited",
    )
)  # fmt: skip


SPACES = tuple(name.lower() for name in SPACE)


@dataclass(frozen=True)
class Thread:
    """Indices of block and thread, x y z."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    gpu: int | None = None

    def __str__(self) -> str:
        on = "" if self.gpu is None else f" on GPU {self.gpu}"
        return f"thread {_short(self.thread)} of block {_short(self.block)}{on}"


@dataclass(frozen=True)
class Operation:
    kernel: str
    place: int  # in the host's library
    line: int = 0  # of the source; 0: unknown
    shared: int = 0  # bytes of dynamic shared memory
    # Blocks, and threads of a block, x y z.
    grid: tuple[int, int, int] = (0, 0, 0)
    threads: tuple[int, int, int] = (0, 0, 0)
    gpu: int | None = None


@dataclass(frozen=True)
class Finding:
    kind: str  # one of KINDS
    kernel: str
    place: Place
    who: Thread
    array: str  # name of the memory; empty: none
    array_bytes: int
    offset: int  # from the array's beginning, maybe negative
    size: int
    space: str
    writes: bool
    times: int
    other: Thread | None  # the other thread of a race
    other_place: Place
    other_writes: bool
    same_index: bool = False  # both write from one line
    works: tuple[Operation, Operation] | None = None  # of who and other, which race
    array_gpu: int | None = None  # of the memory, if there are several GPUs


class Fault(Exception):
    """Ended a launch and lost the context, as on a card."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.kind)
        self.finding = finding


def place_of(lowered: Lowered | None, line: int) -> Place:
    return lowered.places[line] if lowered is not None and line < len(lowered.places) else NOWHERE


def shared_array(lowered: Lowered, offset: int) -> tuple[str, int, int]:
    """Of the last shared array that begins at or before ``offset``: name, beginning, size."""
    best = ("", 0, lowered.shared_bytes)
    for name, (start, size) in lowered.shared_names.items():
        if start <= offset and start >= best[1]:
            best = (name, start, size)
    return best


def _short(index: Sequence[int]) -> str:
    """Without trailing zeros."""
    if index[1] == index[2] == 0:
        return str(index[0])
    return f"({index[0]}, {index[1]})" if index[2] == 0 else str(tuple(index))
