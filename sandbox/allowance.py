"""How long a box may take.

What a box does with the host's processor is limited by the processor time that it has used, which is the same on a
busy host as on an idle one. The clock ends only what sleeps, or gets next to nothing done for very long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from math import inf

from grader import limits

# The least time between two readings of what was used: a reading opens a few files.
_READING_SECONDS = 0.05
_FIRST_READING_SECONDS = 0.5
# A box is idle by what it used in its last seconds: one that worked before it went to sleep is asleep.
_WINDOW_SECONDS = 30.0


class Allowance:
    """``seconds`` of what ``cpu_seconds`` counts, from now on, and ``patience`` times as many by the clock. Without
    ``cpu_seconds``, ``seconds`` by the clock. ``total``: what ``cpu_seconds`` counts may not pass this either.

    ``exact``: read at once. Otherwise a short wait costs no reading, and what is used in its first half second is free.
    """

    def __init__(
        self,
        seconds: float,
        cpu_seconds: Callable[[], float] | None = None,
        *,
        exact: bool = False,
        patience: float = limits.CLOCK_PATIENCE,
        total: float = inf,
    ) -> None:
        self.seconds = seconds
        self._cpu_seconds = cpu_seconds
        self._clock_seconds = seconds if cpu_seconds is None else patience * seconds
        self._total = total
        self._before: float | None = None
        self._spared = 0.0
        self._over = False
        self._idle = False
        # (Seconds waited, seconds used): the earliest reading is as old as the window, where any is.
        self._readings = [(0.0, 0.0)]
        # At the last reading: seconds by the clock since it began, and of processor time.
        self.waited = 0.0
        self.used: float | None = None
        if exact and cpu_seconds is not None:
            self._before = cpu_seconds()
        self._began = time.perf_counter()
        first = min(seconds, _FIRST_READING_SECONDS)
        if exact:
            first = 0.0 if (self._before or 0.0) >= total else self._soonest(seconds)
        self._read_at = self._began + min(self._clock_seconds, first)

    @property
    def burnt(self) -> bool:
        """Whether it is over because that much processor time was used."""
        return self.used is not None and self.used >= self.seconds

    @property
    def burnt_in_total(self) -> bool:
        """Whether it is over because the box has used all that it may in its life."""
        return self.used is not None and (self._before or 0.0) + self.used >= self._total

    @property
    def starved(self) -> bool:
        """Whether it is over by the clock alone though the box was not idle: others had the processor."""
        busy = self.used is not None and not self._idle
        return self._over and busy and not self.burnt and not self.burnt_in_total

    def sentence(self) -> str:
        """How long it waited and what was used, up to the last reading."""
        if self.used is None:
            return f"{self.waited:.0f} s"
        return f"{self.waited:.0f} s, in which it used {self.used:.1f} s of processor time"

    def begin(self, now: float) -> None:
        """Count from ``now`` on, a time of ``time.perf_counter``. A runner spins while it waits at the gate: what it
        can have used so since this was made is not held against it."""
        waited = now - self._began
        self._spared += waited
        self._began += waited
        self._read_at += waited

    def forgive(self, seconds: float) -> None:
        """Do not count so many of the last ones by the clock: who waits stood still itself."""
        self._over = False
        self._began += seconds
        self._read_at += seconds

    def left(self) -> float:
        """Seconds to wait before asking again; 0 once it is over."""
        now = time.perf_counter()
        if not self._over and now >= self._read_at:
            self._read(now)
        return 0.0 if self._over else self._read_at - now

    def _soonest(self, left: float) -> float:
        """When ``left`` seconds of processor time can be used up: with all cores at work."""
        if self._cpu_seconds is None:
            return left
        return max(left / (os.cpu_count() or 1), _READING_SECONDS)

    def _read(self, now: float) -> None:
        self.waited = now - self._began
        self._over = self.waited >= self._clock_seconds
        self._read_at = self._began + self._clock_seconds
        if self._cpu_seconds is None:
            return
        counted = self._cpu_seconds()
        if self._before is None:
            self._before = counted
        self.used = max(counted - self._before - self._spared, 0.0)
        self._readings.append((self.waited, self.used))
        while self._readings[1][0] <= self.waited - _WINDOW_SECONDS:
            self._readings.pop(0)
        since, before = self._readings[0]
        self._idle = self.used - before < limits.IDLE_SHARE * (self.waited - since)
        asleep = self._idle and self.waited >= limits.IDLE_PATIENCE * self.seconds
        self._over = self._over or asleep or self.burnt or self.burnt_in_total
        self._read_at = min(self._read_at, now + self._soonest(self.seconds - self.used))
