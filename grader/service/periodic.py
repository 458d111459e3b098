from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class Periodic(ABC):
    """Calls ``run_once`` every ``pause_s`` seconds in a daemon thread."""

    def __init__(self, name: str, pause_s: float, at_once: bool = False, end_s: float | None = None) -> None:
        """``at_once``: no pause before the first turn. ``end_s``: seconds that ``close`` waits for a turn (None: any
        time)."""
        self._pause_s, self._at_once, self._end_s = pause_s, at_once, end_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def run_once(self) -> None:
        """Must not raise: that ends the thread."""

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(self._end_s)

    def _run(self) -> None:
        if self._at_once:
            self.run_once()
        while not self._stop.wait(self._pause_s):
            self.run_once()
