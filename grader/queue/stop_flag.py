"""A flag that asks a process to end: set by a signal handler, read by everyone."""

from __future__ import annotations

import threading
import time

# Waiting threads notice a stop this soon.
_LOOK_SECONDS = 0.05


class StopFlag(threading.Event):
    """An event that a signal handler may set.

    Setting an ordinary event takes a lock, and so does waiting for it: a handler that runs in the thread that holds the
    lock (one that is about to wait, or the handler of a signal just before) deadlocks. This one has no lock.
    """

    _said = False

    def is_set(self) -> bool:
        return self._said

    def set(self) -> None:
        self._said = True

    def clear(self) -> None:
        self._said = False

    def wait(self, timeout: float | None = None) -> bool:
        """True if it is set, within up to ``timeout`` seconds (None: for ever)."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._said:
            left = _LOOK_SECONDS if end is None else end - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(left, _LOOK_SECONDS))
        return self._said
