"""The spare boxes of one judge: how many, and when they may start.

A starting box imports for seconds on one of the host's cores, then makes a GPU context and loads kernels, which would
show in any timing. So during a timing none starts, one that imports waits before it uses the GPU, and one that uses the
GPU is paused. Under steady load, boxes use the GPU while a submission's cases are tested.
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

# As many submissions of a language as came in this time are expected in the next.
_ARRIVALS_SECONDS = 60.0
# Boxes that load at once: enough if each imports for seconds, may use the GPU for less than half of a submission's two
# seconds, and the next comes immediately.
_BESIDE = 8
# The next submission comes within this time, or there is none for now.
_NEXT_SECONDS = 0.5
# The same if a spare is left: no hurry, and a submission that comes during a start would wait.
_NEXT_WITH_SPARE_SECONDS = 2.0


class Spares:
    """``least``: spare boxes of each language, even without submissions; 0: none at all."""

    def __init__(self, device: BoxDevice, maker: BoxMaker, least: int) -> None:
        self._device = device
        self._least = least
        # Each takes a core, and the cases of a submission wait while many load at once.
        room = 1 if device.on_processor else max(1, (os.cpu_count() or 1) // 2)
        beside = min(room, _BESIDE)
        self._most = max(least, min(room, limits.SPARE_BOXES))
        # A control costs one more start; keeping one ahead hides it.
        control = device.box_spec(BoxPurpose.CONTROL, device.languages()[-1], limits.BOX_MEMORY_BYTES)
        pool = self._control = SpareBoxes(maker, control, min(least, 1))
        self._pools: dict[Language, SpareBoxes] = {}
        for language in device.languages():
            spec = submission_spec(device, language, limits.BOX_MEMORY_BYTES)
            pool = self._pools[language] = SpareBoxes(pool, spec, least, beside)
        # Each pool asks the one before it for boxes that it does not have.
        self.boxes = pool
        self._came: dict[Language, deque[float]] = defaultdict(lambda: deque(maxlen=self._most))

    @property
    def _all(self) -> list[SpareBoxes]:
        return [self._control, *self._pools.values()]

    def expect(self, language: Language) -> None:
        self._came[language].append(time.monotonic())
        if self._device.on_processor:
            # A starting box takes processors from the timing, and the job needs these boxes anyway.
            self.quiet()
            return
        pool = self._pools.get(language)
        if pool is not None:
            pool.count = self._wanted(language)
            pool.refill()

    def quiet(self) -> None:
        """Something will be timed: start no box until ``release``, or until a missing one is asked for."""
        for pool in self._all:
            if self._device.on_processor:
                pool.wait()
            else:
                pool.hold()

    def release(self) -> None:
        for pool in self._all:
            pool.release()

    def patience(self) -> float:
        """After this many seconds without a submission, there is time to start boxes."""
        if self._device.on_processor:
            return 0.0
        return (
            _NEXT_WITH_SPARE_SECONDS if all(pool.ready() for pool in self._pools.values()) else _NEXT_SECONDS
        )

    def refill(self) -> None:
        """Nothing is judged: start the boxes that will be needed, and end the others."""
        for language, pool in self._pools.items():
            pool.count = self._wanted(language)
        for pool in self._all:
            pool.trim()
            pool.refill()

    def _wanted(self, language: Language) -> int:
        """The number of boxes for this language. Submissions on the host's processor leave no core for many."""
        if not self._least or self._device.on_processor:
            return self._least
        since = time.monotonic() - _ARRIVALS_SECONDS
        came = sum(arrival > since for arrival in self._came[language])
        # A box that imports torch is not ready in time for a submission right after the first.
        ahead = 1 if came and language.torch else 0
        return max(self._least, min(self._most, came + ahead))

    def close(self) -> None:
        for pool in reversed(self._all):
            pool.close()
