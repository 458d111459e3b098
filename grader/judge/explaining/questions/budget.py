"""How long a search may take."""

from __future__ import annotations

import time

# A busy machine should change few answers.
_TIMES = 5


class Budget:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.thread_time(), time.monotonic()

    @property
    def spent(self) -> bool:
        return self.used > self._seconds

    @property
    def used(self) -> float:
        """Seconds of this thread, or the clock's share if that is more."""
        thread, clock = self._began
        return max(time.thread_time() - thread, (time.monotonic() - clock) / _TIMES)
