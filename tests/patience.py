"""Intervals of polling in tests."""

from __future__ import annotations

import time

_SHORTEST, _LONGEST = 0.02, 0.5


def pause(began: float) -> None:
    """Sleep before the next look; the last one began at ``began`` (monotonic). Looks take at most a quarter
    of the time, because the awaited work needs the processor, too.
    """
    took = time.monotonic() - began
    time.sleep(min(max(_SHORTEST, 3 * took), _LONGEST))
