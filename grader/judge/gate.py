"""The gate: one shared page whose words let a queued call start and say that it ended."""

from __future__ import annotations

import fcntl
import mmap
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

# Words of 32 bits, in different cache lines, so that one side's spinning does not slow the other's writing.
OPEN_WORD = 0
DONE_WORD = 16
# A spinning judge checks the time about every 5 ms (at ~50 ns a reading of the word): nothing else is in a hurry,
# and whatever it asks within a call adds to what it measures.
LOOKS_BETWEEN_CHECKS = 100_000


@dataclass(frozen=True)
class Window:
    """One round from the reveal to the last output compared, in seconds: ``before`` up to the opening, ``gate`` from
    there to where it ends (see ``check_now``), ``after`` from there on."""

    before: float
    gate: float
    after: float


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
        self._full_check: Callable[[], None] = lambda: None
        self._start = self._opened = self._done = 0.0

    def next_round(self) -> int:
        self.round += 1
        return self.round

    def open(self) -> float:
        """Open the gate for the current round; returns the time of it, in seconds of the judge's clock."""
        self._words[OPEN_WORD] = self.round
        return time.perf_counter()

    def open_behind(
        self, reveal: Callable[[], None], spot_check: Callable[[], None], full_check: Callable[[], None]
    ) -> float:
        """Reveal, then open: with nothing between the two that anyone could use. Returns the time of the opening.
        ``spot_check`` and ``full_check`` are for ``check_now``."""
        self._full_check = full_check
        self._start = time.perf_counter()
        reveal()
        self._opened = self.open()
        return self._opened

    def check_now(self) -> Window:
        """Check what the call left. Here ``gate`` ends when the judge sees "done", and there is no spot check."""
        self._full_check()
        end = time.perf_counter()
        return Window(self._opened - self._start, self._done - self._opened, end - self._done)

    def give_up(self) -> bool:
        """There will be no check in this round. True when nothing of the judge's waits for the runner any more."""
        return True

    def is_done(self) -> bool:
        return self._words[DONE_WORD] == self.round

    def spin_until_done(self, deadline: float, gone: Callable[[], bool]) -> bool:
        """Spin until the runner says done. False at ``deadline``, or where it is ``gone``, without that."""
        words, number = self._words, self.round
        while True:
            for _ in range(LOOKS_BETWEEN_CHECKS):
                if words[DONE_WORD] == number:
                    self._done = time.perf_counter()
                    return True
            if time.perf_counter() > deadline or gone():
                self._done = time.perf_counter()
                return bool(words[DONE_WORD] == number)

    def close(self) -> None:
        self._words.release()
        self._map.close()
        os.close(self.descriptor)
