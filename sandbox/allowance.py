"""How long a box may take: processor time, which a busy host does not change.

The clock ends only boxes that sleep or get almost nothing done.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from math import inf

from grader import limits

# Each reading opens a few files.
_READING_SECONDS = 0.05
_FIRST_READING_SECONDS = 0.5
# A box that worked and then went to sleep counts as asleep.
_WINDOW_SECONDS = 30.0


class Allowance:
    """At most ``seconds`` by ``cpu_seconds`` (without it: by the clock), and ``patience`` times that by the
    clock.

    ``total`` limits all of ``cpu_seconds``. Unless ``exact``, a short wait costs no reading and the first
    half second is free.
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
        # (Seconds waited, seconds used). The first is as old as the window, if possible.
        self._readings = [(0.0, 0.0)]
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
        return self.used is not None and self.used >= self.seconds

    @property
    def burnt_in_total(self) -> bool:
        """Over because the box used all the processor time of its life."""
        return self.used is not None and (self._before or 0.0) + self.used >= self._total

    @property
    def starved(self) -> bool:
        """Over by the clock although not idle: others had the processor."""
        busy = self.used is not None and not self._idle
        return self._over and busy and not self.burnt and not self.burnt_in_total

    def sentence(self) -> str:
        if self.used is None:
            return f"{self.waited:.0f} s"
        return f"{self.waited:.0f} s, in which it used {self.used:.1f} s of processor time"

    def begin(self, now: float) -> None:
        """Count from ``now`` (``time.perf_counter``), so a runner's spinning at the gate is free."""
        waited = now - self._began
        self._spared += waited
        self._began += waited
        self._read_at += waited

    def forgive(self, seconds: float) -> None:
        """Ignore the last ``seconds`` by the clock: this process was stopped."""
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
