"""The gate: a shared page whose words let a queued call start and report its end."""

from __future__ import annotations

import fcntl
import mmap
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

# 32-bit words in different cache lines: spinning on one must not slow writes to the other.
OPEN_WORD = 0
DONE_WORD = 16
# About 5 ms at ~50 ns per read. Any other work during a call adds to the measured time.
LOOKS_BETWEEN_CHECKS = 100_000


@dataclass(frozen=True)
class Window:
    #: From the reveal to the opening.
    before: float
    #: To the end of the gate, see ``check_now``.
    gate: float
    #: Until the last output is compared.
    after: float


class HostGate:
    """Both sides map the page: the runner spins on the open word, the judge on the done word."""

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
        """Returns the time of opening by ``time.perf_counter``."""
        self._words[OPEN_WORD] = self.round
        return time.perf_counter()

    def open_behind(
        self, reveal: Callable[[], None], spot_check: Callable[[], None], full_check: Callable[[], None]
    ) -> float:
        """Reveal, then open, without an exploitable gap. Returns the time of opening. The checks are for
        ``check_now``."""
        self._full_check = full_check
        self._start = time.perf_counter()
        reveal()
        self._opened = self.open()
        return self._opened

    def check_now(self) -> Window:
        """Here ``gate`` ends when the judge sees "done". There is no spot check."""
        self._full_check()
        end = time.perf_counter()
        return Window(self._opened - self._start, self._done - self._opened, end - self._done)

    def give_up(self) -> bool:
        """Skip the check. True if nothing of the judge waits for the runner."""
        return True

    def is_done(self) -> bool:
        return self._words[DONE_WORD] == self.round

    def spin_until_done(self, deadline: float, gone: Callable[[], bool]) -> bool:
        """False after ``deadline`` or if the runner is ``gone``."""
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
