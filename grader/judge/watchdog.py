"""Lifts the hold on the judge's own stream where the judge itself cannot.

A round is enqueued behind a hold on that stream, which the judge lifts when all is enqueued. A launch that has to load
a kernel first may wait for the stream, with some drivers and at some times. It would wait for ever, because the thread
that waits is the one that would lift the hold. So everything is run once ahead of the rounds; where a launch waits all
the same, the round is lost, and the judge is not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.errors import JudgeFailure

_LOOK_SECONDS = 0.5


class Watchdog:
    """``lift`` is called, by a thread that checks now and then, when a block ``within`` has not ended after
    ``seconds``. The thread starts with the first block and ends with ``close``."""

    def __init__(self, lift: Callable[[], None], seconds: float) -> None:
        self._lift, self._seconds = lift, seconds
        self._due: float | None = None
        self._lifted = False
        # So that a block that ends at that very moment is either lifted or not, and never the one after it.
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def within(self) -> Iterator[None]:
        """Raises JudgeFailure after a block in which it had to be lifted."""
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
                f"the judge's own launches waited for its own hold, which was lifted after {self._seconds:.0f} s"
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
