"""Lifts the hold on the judge's stream if the judge itself cannot.

A launch that must load a kernel may wait for the held stream, and with it the thread that would lift the hold.
Everything runs once before the rounds, so this should not happen; if it does, only the round is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.errors import JudgeFailure

_LOOK_SECONDS = 0.5


class Watchdog:
    """Calls ``lift`` in a thread if a block ``within`` takes more than ``seconds``."""

    def __init__(self, lift: Callable[[], None], seconds: float) -> None:
        self._lift, self._seconds = lift, seconds
        self._due: float | None = None
        self._lifted = False
        # The next block must never be lifted for one that ends at that moment.
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def within(self) -> Iterator[None]:
        """Raises JudgeFailure after a block in which the hold was lifted."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="relief", daemon=True)
            self._thread.start()
        self._lifted = False
        self._due = time.monotonic() + self._seconds
        try:
            yield
        finally:
            with self._lock:
                self._due = None
        if self._lifted:
            raise JudgeFailure(
                f"the judge's launches waited for its own hold, which was lifted after {self._seconds:.0f} s"
            )

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            with self._lock:
                if self._due is not None and time.monotonic() > self._due and not self._lifted:
                    self._lifted = True
                    self._lift()

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
