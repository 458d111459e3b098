"""How long a search may take."""

from __future__ import annotations

import time

# By the clock it may take this many times as long: a busy machine changes few answers.
_TIMES = 5


class Budget:
    """Seconds of this thread, and a multiple of them by the clock."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.thread_time(), time.monotonic()

    @property
    def spent(self) -> bool:
        return self.used > self._seconds

    @property
    def used(self) -> float:
        """Seconds of this thread, or the share of the clock's if that is more."""
        thread, clock = self._began
        return max(time.thread_time() - thread, (time.monotonic() - clock) / _TIMES)
