"""Workers that a scheduler such as Slurm starts, and that end by themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from grader import limits


@dataclass(frozen=True)
class PilotLimits:
    """Seconds. ``lifetime``: from the start to the end at the latest. ``idle``: without a submission."""

    lifetime: float | None = None
    idle: float | None = None


class Pilot:
    """``stop`` is called when the lifetime is over, and gives a submission that still runs back."""

    def __init__(self, given: PilotLimits, stop: Callable[[], None]) -> None:
        self._given = given
        self._began = self._busy_at = time.monotonic()
        self._timer: threading.Timer | None = None
        if given.lifetime is not None:
            self._timer = threading.Timer(given.lifetime, stop)
            self._timer.daemon = True
            self._timer.start()

    def served(self) -> None:
        self._busy_at = time.monotonic()

    @property
    def over(self) -> str:
        """Why it takes nothing more, or an empty text."""
        now = time.monotonic()
        lifetime, idle = self._given.lifetime, self._given.idle
        if lifetime is not None and now - self._began >= lifetime - lead_seconds(lifetime):
            return "lifetime"
        return "idle" if idle is not None and now - self._busy_at >= idle else ""

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def lead_seconds(lifetime: float) -> float:
    """Time to finish the last submission."""
    return min(limits.PILOT_LEAD_SECONDS, limits.PILOT_LEAD_SHARE * lifetime)
