"""A person's times for a challenge, in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.service.leaderboard import PastTime
from grader.web.pages.formats import duration
from grader.web.pages.plots.axis import Axis, linear, logarithmic

# Beyond this factor between the slowest and the fastest, equal steps show nothing of the fast ones.
_LINEAR_FACTOR = 12.0
# From the edges, percent: half a point and its interval.
_EDGE = 3.0


@dataclass(frozen=True)
class Point:
    """``x`` and the three heights are percent from left and top."""

    past: PastTime
    own: bool
    best: bool
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class History:
    y: Axis
    points: list[Point]

    @property
    def lines(self) -> list[tuple[Point, Point]]:
        return list(zip(self.points, self.points[1:], strict=False))


def history(times: Sequence[PastTime], own: str) -> History | None:
    """``own``: the submission that is looked at. None where there is nothing to compare it with."""
    if len(times) < 2:
        return None
    slowest, fastest = max(it.ci_us[1] for it in times), min(it.ci_us[0] for it in times)
    if fastest > 0 and slowest / fastest > _LINEAR_FACTOR:
        axis = logarithmic([fastest, slowest], duration)
    else:
        axis = linear(slowest, duration)
    best = min(times, key=lambda it: it.time_us)
    step = (100 - 2 * _EDGE) / (len(times) - 1)
    points = [
        Point(
            past=it,
            own=it.id == own,
            best=it is best,
            x=round(_EDGE + place * step, 2),
            y=axis.up(it.time_us),
            low=axis.up(it.ci_us[0]),
            high=axis.up(it.ci_us[1]),
        )
        for place, it in enumerate(times)
    ]
    return History(axis, points)
