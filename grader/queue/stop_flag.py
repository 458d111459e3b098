from __future__ import annotations

import threading
import time

_LOOK_SECONDS = 0.05


class StopFlag(threading.Event):
    """A signal handler may set it.

    An ordinary event takes a lock to set and to wait: a handler that interrupts the lock's holder deadlocks.
    """

    _said = False

    def is_set(self) -> bool:
        return self._said

    def set(self) -> None:
        self._said = True

    def clear(self) -> None:
        self._said = False

    def wait(self, timeout: float | None = None) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        while not self._said:
            left = _LOOK_SECONDS if end is None else end - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(left, _LOOK_SECONDS))
        return self._said
