"""Gunicorn's worker of threads, but for how it parts with a connection and when it looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import BoundedSemaphore
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

# Who takes leave of those that are slow to close, and how many may take their time at once.
_CLOSERS = 4
_LINGERING = 64
# Of the collector of cycles: boards that are kept are a million objects, which it walked through, 0.1 s long, on every
# second page. What a request leaves is young, and that is looked through often enough.
_GENERATIONS = (50_000, 20, 200)


class Worker(ThreadWorker):  # type: ignore[misc]
    """After its last answer gunicorn waits, up to 2 s, for the other side to close, and it does so in the one thread
    that takes connections and hands out requests: a few clients that do not close would stop everybody. Here other
    threads do the waiting; when too many wait already, the connection is closed at once.
    """

    def init_process(self) -> None:
        """In the worker process, after the fork."""
        self._closers = ThreadPoolExecutor(_CLOSERS, thread_name_prefix="closer")
        self._room = BoundedSemaphore(_LINGERING)
        gc.set_threshold(*_GENERATIONS)
        super().init_process()

    def run(self) -> None:
        """All that is loaded stays."""
        gc.collect()
        gc.freeze()
        super().run()

    def enqueue_req(self, conn: Any) -> None:
        """A connection that has something to be answered; one that is kept comes here for each request."""
        if not isinstance(conn.close, partial):
            conn.close = partial(self._close, conn.close)
        super().enqueue_req(conn)

    def _close(self, close: Callable[..., None], **how: Any) -> None:
        if how.get("graceful") and self._room.acquire(blocking=False):
            self._closers.submit(self._linger, partial(close, **how))
        else:
            close()

    def _linger(self, close: Callable[[], None]) -> None:
        try:
            close()
        finally:
            self._room.release()
