"""Ended containers are removed on a thread of their own: the engine takes its time, and nobody needs to wait for it."""

from __future__ import annotations

import queue
import threading

from grader.errors import BoxUnavailable
from grader.sandbox.docker_engine import Engine


class Remover:
    """Removes what it is handed, one container after another. Safe to use from any thread."""

    def __init__(self, using: Engine) -> None:
        self._engine = using
        self._waiting: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._serve, name="box-remover", daemon=True).start()

    def _serve(self) -> None:
        while True:
            ended = self._waiting.get()
            try:
                self._engine.remove(ended)
            except BoxUnavailable:
                pass  # it bears our label: whoever reaps next removes it
            finally:
                self._waiting.task_done()

    def remove(self, ended: str) -> None:
        self._waiting.put(ended)

    def finish(self) -> None:
        """Wait until everything handed over is removed."""
        self._waiting.join()
