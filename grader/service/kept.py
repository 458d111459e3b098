"""What a process has worked out of the record, kept for as long as a few numbers say that nothing has changed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

T = TypeVar("T")


class Kept:
    """The ``most`` things that were asked for last."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[Hashable, object]] = OrderedDict()
        self._recent: OrderedDict[Hashable, tuple[float, object]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, stamp: Hashable, make: Callable[[], T]) -> T:
        """What is kept under ``key`` if it was made at the same ``stamp``, else what ``make`` gives; it is shared, and
        not to be changed."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept[0] == stamp:
                self._kept.move_to_end(key)
                return cast("T", kept[1])
        made = make()
        with self._lock:
            self._kept[key] = (stamp, made)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made

    def recent(self, key: Hashable, seconds: float, make: Callable[[], T]) -> T:
        """What ``make`` gave for ``key`` within the last ``seconds``, else what it gives now."""
        now = time.monotonic()
        with self._lock:
            kept = self._recent.get(key)
        if kept is not None and now - kept[0] < seconds:
            return cast("T", kept[1])
        made = make()
        with self._lock:
            self._recent[key] = (now, made)
            while len(self._recent) > self._most:
                self._recent.popitem(last=False)
        return made

    def forget(self) -> None:
        """All of it."""
        with self._lock:
            self._kept.clear()
            self._recent.clear()
