"""A process's cache of values computed from the database, each valid while its stamp is unchanged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from cachetools import FIFOCache, LRUCache

T = TypeVar("T")


class Kept:
    """Drops the least recently used values."""

    def __init__(self, most: int = 64) -> None:
        self._kept: LRUCache[Hashable, tuple[Hashable, object]] = LRUCache(most)
        self._recent: FIFOCache[Hashable, tuple[float, object]] = FIFOCache(most)
        self._lock = threading.Lock()

    def get(self, key: Hashable, stamp: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, made again if ``stamp`` changed. It is shared: do not change it."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept[0] == stamp:
                return cast("T", kept[1])
        made = make()
        with self._lock:
            self._kept[key] = (stamp, made)
        return made

    def recent(self, key: Hashable, seconds: float, make: Callable[[], T]) -> T:
        """As ``get``, but made again after ``seconds``."""
        now = time.monotonic()
        with self._lock:
            kept = self._recent.get(key)
        if kept is not None and now - kept[0] < seconds:
            return cast("T", kept[1])
        made = make()
        with self._lock:
            self._recent[key] = (now, made)
        return made

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()
            self._recent.clear()
