"""What a box printed: kept up to a limit, and counted so that a flood is noticed."""

from __future__ import annotations

import threading


class BoundedOutput:
    """Bytes from one writer thread to any reader thread; at most ``limit`` bytes are ever kept in all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._seen = 0
        self._lock = threading.Lock()

    @property
    def flooded(self) -> bool:
        """Whether more was printed than may be."""
        return self._seen > self._limit

    def add(self, data: bytes) -> bool:
        """Keep what fits. False when the limit is passed: the writer should be ended."""
        with self._lock:
            room = max(0, self._limit - self._seen)
            self._kept += data[:room]
            self._seen += len(data)
            return self._seen <= self._limit

    def take(self) -> bytes:
        """What came since the last call."""
        with self._lock:
            taken = bytes(self._kept)
            self._kept.clear()
            return taken
