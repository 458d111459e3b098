from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path


class Share(IntEnum):
    """CPU shares; other groups and processes have 1024.

    ``YIELDING`` is for boxes on the processor that the web and the queue need. A case of one second still
    ends in time next to a busy process.
    """

    BACKGROUND = 64
    YIELDING = 128
    FULL = 1024

    @property
    def weight(self) -> int:
        """For control groups version 2, where the default is 100."""
        return self * 100 // 1024

    @property
    def nice(self) -> int:
        """The same for a process without a group: each step is a fifth less."""
        return {Share.BACKGROUND: 12, Share.YIELDING: 9, Share.FULL: 0}[self]


def take(share: Share) -> None:
    """Lower this process and its children, never raise them."""
    os.nice(max(0, share.nice - os.nice(0)))


# One core in four stays free of background work: a judge spins on one while it times, and its runner on
# another.
ONE_IN = 4


@functools.cache
def background_cores() -> tuple[int, ...]:
    """Empty (any) if there is only one core."""
    return without_reserved(sorted(os.sched_getaffinity(0)), _threads_beside)


def without_reserved(cores: Sequence[int], beside: Callable[[int], frozenset[int]]) -> tuple[int, ...]:
    """Leaves out every ``ONE_IN``-th core with its sibling threads."""
    wanted = max(1, len(cores) // ONE_IN)
    kept: set[int] = set()
    for core in cores:
        if len(kept) >= wanted:
            break
        kept |= beside(core) | {core}
    # With one core for all threads, half a core is better than none.
    return tuple(core for core in cores if core not in kept) or tuple(cores[wanted:])


def _threads_beside(core: int) -> frozenset[int]:
    """Hardware threads of the same core, from a list such as "0,32" or "0-1"."""
    path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    found: set[int] = set()
    try:
        for part in path.read_text().strip().split(","):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
    except (OSError, ValueError):
        return frozenset({core})
    return frozenset(found)
