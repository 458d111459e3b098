"""Something that a launch did wrong, and its place in the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lower import Lowered
from .names import FINDING, SPACE
from .ptx import NOWHERE, Place

# The first is no finding.
KINDS = ("", *(name.lower() for name in FINDING))


# Findings about shared memory, whatever address names it.
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
    """A thread of a launch: its block's index and its own, x y z."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    gpu: int | None = None  # None: there is one

    def __str__(self) -> str:
        on = "" if self.gpu is None else f" on GPU {self.gpu}"
        return f"thread {_short(self.thread)} of block {_short(self.block)}{on}"


@dataclass(frozen=True)
class Operation:
    """A launch, copy or memset."""

    kernel: str  # empty for a copy or memset
    place: int  # in the host's library
    line: int = 0  # of the source; 0: unknown
    shared: int = 0  # bytes of dynamic shared memory
    # Of a launch, x y z: blocks, and threads of a block.
    grid: tuple[int, int, int] = (0, 0, 0)
    threads: tuple[int, int, int] = (0, 0, 0)
    gpu: int | None = None  # of a launch; None: there is one


@dataclass(frozen=True)
class Finding:
    """Something that a launch did wrong."""

    kind: str  # one of KINDS
    kernel: str
    place: Place
    who: Thread
    array: str  # name of the memory; empty: none
    array_bytes: int
    offset: int  # bytes from the array's beginning; negative: before it
    size: int  # bytes of the access
    space: str
    writes: bool
    times: int
    other: Thread | None  # the other thread of a race
    other_place: Place
    other_writes: bool
    same_index: bool = False  # both threads write the element from one line
    works: tuple[Operation, Operation] | None = None  # of a race between two works: of who, of other
    array_gpu: int | None = None  # that the memory is of, if there are several


class Fault(Exception):
    """A fault ended a launch early, and the context is lost, as on a card."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.kind)
        self.finding = finding


def place_of(lowered: Lowered | None, line: int) -> Place:
    return lowered.places[line] if lowered is not None and line < len(lowered.places) else NOWHERE


def shared_array(lowered: Lowered, offset: int) -> tuple[str, int, int]:
    """Name, beginning and size of the last shared array that begins at or before an offset."""
    best = ("", 0, lowered.shared_bytes)
    for name, (start, size) in lowered.shared_names.items():
        if start <= offset and start >= best[1]:
            best = (name, start, size)
    return best


def _short(index: Sequence[int]) -> str:
    """(3, 0, 0) is 3, (3, 1, 0) is (3, 1)."""
    if index[1] == index[2] == 0:
        return str(index[0])
    return f"({index[0]}, {index[1]})" if index[2] == 0 else str(tuple(index))
