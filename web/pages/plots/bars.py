"""A submission's time above its baselines' and the speed of light: shorter is faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.schemas.report import WorkloadReport
from grader.web.pages.formats import duration
from grader.web.pages.plots.axis import Axis, linear

# Two labels more than four ticks need half a phone's width.
_TICKS_MOST = 5


@dataclass(frozen=True)
class Bar:
    """One bar; ``percent`` of the full width, ``low`` and ``high`` the ends of its interval, if any. ``kind``: own,
    base or light."""

    label: str
    us: float
    percent: float
    kind: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class WorkloadBars:
    """``bars``: one's own first, where its time is known."""

    workload: WorkloadReport
    bars: list[Bar]
    axis: Axis


def workload_bars(workloads: Sequence[WorkloadReport]) -> list[WorkloadBars]:
    return [_of(each) for each in workloads]


def _of(workload: WorkloadReport) -> WorkloadBars:
    others = [(name, us, "base") for name, us in sorted(workload.baselines_us.items())]
    if workload.roofline_us:
        others.append(("speed of light", workload.roofline_us, "light"))
    time_us = workload.time_us
    ends = workload.ci_us if time_us is not None else ()
    # With nothing to show, the axis of no bar: any length will do.
    axis = linear(max((*ends, *(us for _, us, _ in others)), default=1.0), duration, _TICKS_MOST)
    bars = [Bar(name, us, _sliver(axis, us), kind) for name, us, kind in others]
    if time_us is not None:
        low, high = (axis.at(bound) for bound in workload.ci_us)
        bars.insert(0, Bar("yours", time_us, _sliver(axis, time_us), "own", low, high))
    return WorkloadBars(workload, bars, axis)


def _sliver(axis: Axis, us: float) -> float:
    """At least as wide as can be seen."""
    return max(1.0, axis.at(us))
