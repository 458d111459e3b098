"""One judge's spare boxes: how many, and when they may start.

A starting box uses a host core for seconds, then the GPU, and would disturb any timing. So during one none starts, and
starting ones wait or are paused.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict, deque

from grader import limits
from grader.judge.device import BoxDevice
from grader.judge.launch import submission_spec
from grader.languages import Language
from grader.sandbox.box import BoxMaker, BoxPurpose
from grader.sandbox.pool import SpareBoxes

# As many submissions as came in this time are expected in the next.
_ARRIVALS_SECONDS = 60.0
# Enough if each imports for seconds and uses the GPU for half of a submission's two seconds.
_BESIDE = 8
# If no submission comes within this time, none is expected.
_NEXT_SECONDS = 0.5
# Longer if a spare is left: a submission during a start would wait.
_NEXT_WITH_SPARE_SECONDS = 2.0


class Spares:
    """``least``: spares of each language, even without submissions; 0: none."""

    def __init__(self, device: BoxDevice, maker: BoxMaker, least: int) -> None:
        self._device = device
        self._least = least
        # Each takes a core, and a submission's cases wait.
        room = 1 if device.on_processor else max(1, (os.cpu_count() or 1) // 2)
        beside = min(room, _BESIDE)
        self._most = max(least, min(room, limits.SPARE_BOXES))
        # A control kept ahead hides its start.
        control = device.box_spec(BoxPurpose.CONTROL, device.languages()[-1], limits.BOX_MEMORY_BYTES)
        pool = self._control = SpareBoxes(maker, control, min(least, 1))
        self._pools: dict[Language, SpareBoxes] = {}
        for language in device.languages():
            spec = submission_spec(device, language, limits.BOX_MEMORY_BYTES)
            pool = self._pools[language] = SpareBoxes(pool, spec, least, beside)
        # Each pool asks the one before for boxes that it lacks.
        self.boxes = pool
        self._came: dict[Language, deque[float]] = defaultdict(lambda: deque(maxlen=self._most))

    @property
    def _all(self) -> list[SpareBoxes]:
        return [self._control, *self._pools.values()]

    def expect(self, language: Language) -> None:
        self._came[language].append(time.monotonic())
        if self._device.on_processor:
            # Starts disturb the timing, and this job needs the spares.
            self.quiet()
            return
        pool = self._pools.get(language)
        if pool is not None:
            pool.count = self._wanted(language)
            pool.refill()

    def quiet(self) -> None:
        """Start no box until ``release``, or until a missing one is asked for."""
        for pool in self._all:
            if self._device.on_processor:
                pool.wait()
            else:
                pool.hold()

    def release(self) -> None:
        for pool in self._all:
            pool.release()

    def patience(self) -> float:
        """Seconds without a submission after which boxes may start."""
        if self._device.on_processor:
            return 0.0
        return (
            _NEXT_WITH_SPARE_SECONDS if all(pool.ready() for pool in self._pools.values()) else _NEXT_SECONDS
        )

    def refill(self) -> None:
        """Nothing is judged: start needed boxes, end others."""
        for language, pool in self._pools.items():
            pool.count = self._wanted(language)
        for pool in self._all:
            pool.trim()
            pool.refill()

    def _wanted(self, language: Language) -> int:
        """The host's processor has no core for many."""
        if not self._least or self._device.on_processor:
            return self._least
        since = time.monotonic() - _ARRIVALS_SECONDS
        came = sum(arrival > since for arrival in self._came[language])
        # The next submission would come too early for a box that imports torch.
        ahead = 1 if came and language.torch else 0
        return max(self._least, min(self._most, came + ahead))

    def close(self) -> None:
        for pool in reversed(self._all):
            pool.close()
