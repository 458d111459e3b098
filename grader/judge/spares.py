"""The spare boxes of one judge: how many are needed for the submissions that come, and when they may start.

A box that starts imports for seconds, which takes one of the host's cores, and then makes a context on the GPU and
loads kernels there, which shows in whatever is timed meanwhile. So while something is timed none starts; one that
imports goes on, but waits before it uses the GPU; and one that uses it is paused. While submissions come one right
behind the other, boxes use the GPU while a submission's cases are tested.
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

# As many submissions of a language as came within this time are expected within the next.
_ARRIVALS_SECONDS = 60.0
# Boxes that load at a time: as many as are needed where each imports for seconds, may use the GPU for less than half of
# a submission's two, and the next submission comes at once.
_BESIDE = 8
# The next submission comes within this time, or there is none for now.
_NEXT_SECONDS = 0.5
# The same where a spare box is left: to start another is then in no hurry, and a submission that comes meanwhile waits.
_NEXT_WITH_SPARE_SECONDS = 2.0


class Spares:
    """``least``: spare boxes of each language that are kept however few submissions come; 0 for none at all."""

    def __init__(self, device: BoxDevice, maker: BoxMaker, least: int) -> None:
        self._device = device
        self._least = least
        # One takes a core for itself; and what many load at once, the cases of a submission wait for.
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
        # Each pool passes on what it has none of to the one before it.
        self.boxes = pool
        self._came: dict[Language, deque[float]] = defaultdict(lambda: deque(maxlen=self._most))

    @property
    def _all(self) -> list[SpareBoxes]:
        return [self._control, *self._pools.values()]

    def expect(self, language: Language) -> None:
        """A submission came, and is about to be judged."""
        self._came[language].append(time.monotonic())
        if self._device.on_processor:
            # A box that starts takes the processors from what is timed. The job needs these boxes in any case.
            self.quiet()
            return
        pool = self._pools.get(language)
        if pool is not None:
            pool.count = self._wanted(language)
            pool.refill()

    def quiet(self) -> None:
        """No box starts from now on, until ``release``, or until one is asked for that is not there: something is about
        to be timed."""
        for pool in self._all:
            if self._device.on_processor:
                pool.wait()
            else:
                pool.hold()

    def release(self) -> None:
        """Nothing is timed any more."""
        for pool in self._all:
            pool.release()

    def patience(self) -> float:
        """How many seconds without a submission show that there is time to start boxes."""
        if self._device.on_processor:
            return 0.0
        return (
            _NEXT_WITH_SPARE_SECONDS if all(pool.ready() for pool in self._pools.values()) else _NEXT_SECONDS
        )

    def refill(self) -> None:
        """Nothing is judged: start what will be needed, and end what will not."""
        for language, pool in self._pools.items():
            pool.count = self._wanted(language)
        for pool in self._all:
            pool.trim()
            pool.refill()

    def _wanted(self, language: Language) -> int:
        """Of this language's boxes. What runs on the host's processor has none to start many on."""
        if not self._least or self._device.on_processor:
            return self._least
        since = time.monotonic() - _ARRIVALS_SECONDS
        came = sum(arrival > since for arrival in self._came[language])
        # What imports torch is not ready in time for one that comes right behind the first.
        ahead = 1 if came and language.torch else 0
        return max(self._least, min(self._most, came + ahead))

    def close(self) -> None:
        for pool in reversed(self._all):
            pool.close()
