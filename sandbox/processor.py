"""The processor time and the cores that boxes and background work get on a host that others use too."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path


class Share(IntEnum):
    """Shares of a contended core, where every other control group and process has 1024. A box alone on a core gets all
    of it.

    ``YIELDING`` is for boxes that are judged on the host's own processor, which the web and the queue need too. It is
    enough that a case which takes a second is not taken for an endless one beside a process that never rests.
    """

    BACKGROUND = 64
    YIELDING = 128
    FULL = 1024

    @property
    def weight(self) -> int:
        """The same in the measure of control groups version 2, where the default is 100."""
        return self * 100 // 1024

    @property
    def nice(self) -> int:
        """The same for a process that is in no group of its own, about: each step of niceness is a fifth less."""
        return {Share.BACKGROUND: 12, Share.YIELDING: 9, Share.FULL: 0}[self]


def take(share: Share) -> None:
    """Lower this process, and all that it starts from now on, to that share. Never raises it."""
    os.nice(max(0, share.nice - os.nice(0)))


# One core in four, and at least one, is kept free of background work: a judge spins on a core while it times, and its
# runner on another. Hosts with several GPUs have more cores.
ONE_IN = 4


@functools.cache
def background_cores() -> tuple[int, ...]:
    """Cores for compilers and the like; empty, which means any, where there is only one."""
    return without_reserved(sorted(os.sched_getaffinity(0)), _threads_beside)


def without_reserved(cores: Sequence[int], beside: Callable[[int], frozenset[int]]) -> tuple[int, ...]:
    """What is left of ``cores`` when every ``ONE_IN``-th is kept free, together with the hardware threads ``beside``
    it, since those are the same core."""
    wanted = max(1, len(cores) // ONE_IN)
    kept: set[int] = set()
    for core in cores:
        if len(kept) >= wanted:
            break
        kept |= beside(core) | {core}
    # Where all threads are one core's, half a core is better than none.
    return tuple(core for core in cores if core not in kept) or tuple(cores[wanted:])


def _threads_beside(core: int) -> frozenset[int]:
    """The hardware threads of the core that ``core`` is one of, such as "0,32" or "0-1"; itself where the system does
    not say."""
    path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    found: set[int] = set()
    try:
        for part in path.read_text().strip().split(","):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
    except (OSError, ValueError):
        return frozenset({core})
    return frozenset(found)
