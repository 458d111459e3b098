"""The gate: one shared page whose words let a queued call start and say that it ended."""

from __future__ import annotations

import fcntl
import mmap
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

# Words of 32 bits. They lie in different cache lines, so that one side's spinning does not slow the other's writing.
OPEN_WORD = 0
DONE_WORD = 16
# A spinning judge looks up about every 5 ms (at ~50 ns a look at the word): nothing else that it asks is in a hurry,
# and whatever it asks within a call adds to what it measures.
LOOKS_BETWEEN_CHECKS = 100_000


@dataclass(frozen=True)
class Opening:
    """A gate that opened behind a reveal: ``at`` on the judge's clock. ``before``: the seconds from the reveal's start
    to the opening; ask once the round is over."""

    at: float
    before: Callable[[], float]


class HostGate:
    """The host's gate: both sides map the page, the runner spins on the open word, the judge on the done word."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("gate", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, mmap.PAGESIZE)
        fcntl.fcntl(
            self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        )
        self._map = mmap.mmap(self.descriptor, mmap.PAGESIZE)
        self._words = memoryview(self._map).cast("I")
        self.round = 0
        self._look: Callable[[], None] = lambda: None

    def next_round(self) -> int:
        self.round += 1
        return self.round

    def open(self) -> float:
        """Open the gate for the current round; returns the time of it, in seconds of the judge's clock."""
        self._words[OPEN_WORD] = self.round
        return time.perf_counter()

    def open_behind(self, reveal: Callable[[], None], look: Callable[[], None]) -> Opening:
        """Reveal, then open: with nothing between the two that anybody could use. ``look`` is for ``look_now``."""
        self._look = look
        start = time.perf_counter()
        reveal()
        at = self.open()
        return Opening(at, lambda: at - start)

    def look_now(self) -> float:
        """Look at what the call left; returns the time when all of it has been looked at."""
        self._look()
        return time.perf_counter()

    def give_up(self) -> None:
        """There will be no look in this round."""

    def is_done(self) -> bool:
        return self._words[DONE_WORD] == self.round

    def spin_until_done(self, deadline: float, gone: Callable[[], bool]) -> float | None:
        """Spin until the runner says done; returns the time of it, or None at ``deadline`` or when it is ``gone``."""
        words, number = self._words, self.round
        while True:
            for _ in range(LOOKS_BETWEEN_CHECKS):
                if words[DONE_WORD] == number:
                    return time.perf_counter()
            if time.perf_counter() > deadline or gone():
                return time.perf_counter() if words[DONE_WORD] == number else None

    def close(self) -> None:
        self._words.release()
        self._map.close()
        os.close(self.descriptor)
