"""How long a search may take."""

from __future__ import annotations

import time


class Budget:
    """Seconds of this thread, and at most five times as many by the clock: a busy machine changes few answers."""

    def __init__(self, seconds: float) -> None:
        self._began = time.thread_time()
        self._ends = self._began + seconds, time.monotonic() + 5 * seconds

    @property
    def spent(self) -> bool:
        return time.thread_time() > self._ends[0] or time.monotonic() > self._ends[1]

    @property
    def used(self) -> float:
        """Seconds of this thread."""
        return time.thread_time() - self._began
