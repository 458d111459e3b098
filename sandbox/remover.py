"""Ended containers are removed on a thread of their own: the engine takes its time, and nobody needs to wait for it."""

from __future__ import annotations

import queue
import threading

from grader.errors import BoxUnavailable
from grader.sandbox.docker_engine import Engine

# An engine that was restarted is back after some seconds.
AGAIN_SECONDS = 2.0


class Remover:
    """Removes what it is handed, one container after another. Safe to use from any thread."""

    def __init__(self, using: Engine) -> None:
        self._engine = using
        self._waiting: queue.Queue[str] = queue.Queue()
        self._finishing = threading.Event()
        threading.Thread(target=self._serve, name="box-remover", daemon=True).start()

    def _serve(self) -> None:
        while True:
            ended = self._waiting.get()
            try:
                self._engine.remove(ended)
            except BoxUnavailable:
                self._try_again(ended)
            finally:
                self._waiting.task_done()

    def _try_again(self, ended: str) -> None:
        """Later: the engine may be away. At the end of the process it is left to whoever reaps next, by its label."""
        if not self._finishing.wait(AGAIN_SECONDS):
            self._waiting.put(ended)

    def remove(self, ended: str) -> None:
        self._waiting.put(ended)

    def finish(self) -> None:
        """Wait until everything handed over is removed, or has been tried once more."""
        self._finishing.set()
        self._waiting.join()
