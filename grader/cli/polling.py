from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from grader import errors
from grader.cli.terminal import say
from grader.schemas.pace import QUICKEST_S, SLOWEST_S

# A server's restart takes less time.
AWAY_SECONDS = 30.0

T = TypeVar("T")


class Outages:
    """Says once for each outage."""

    def __init__(self) -> None:
        self._longest = 0.0

    def __call__(self, seconds: float) -> None:
        if seconds < self._longest or not self._longest:
            say("The server does not answer; trying again.", "yellow")
        self._longest = seconds


def until_done(
    ask: Callable[[], T],
    pause: Callable[[T], float | None],
    *,
    away: Callable[[float], None] | None = None,
    timeout: float = 0.0,
    late: errors.GraderError | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """The first answer for which ``pause`` returns None; else ``pause`` returns seconds to wait.

    ``away`` gets seconds without an answer. Raises ``late`` after ``timeout`` seconds (0: no limit), and
    Unreachable after more than a restart takes.
    """
    began = last_seen = clock()
    wait = QUICKEST_S
    away = away or Outages()
    while True:
        try:
            answer = ask()
        except errors.Unreachable:
            if clock() - last_seen > AWAY_SECONDS:
                raise
            away(clock() - last_seen)
        except errors.TooMany:  # the work continues
            last_seen, wait = clock(), SLOWEST_S
        else:
            last_seen = clock()
            longer = pause(answer)
            if longer is None:
                return answer
            wait = longer
        waited = clock() - began
        if timeout and waited >= timeout:
            raise late or errors.TimedOut(f"It was not done within {timeout:g} s.")
        time.sleep(min(wait, timeout - waited) if timeout else wait)
