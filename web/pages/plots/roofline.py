"""The roofline: how much arithmetic each byte carries, against what rate was reached, under the device's ceilings.

Williams, Waterman, Patterson: Roofline (CACM 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.schemas.report import TOO_SHORT, Report, WorkloadCost, WorkloadReport
from grader.web.pages.formats import quantity
from grader.web.pages.plots.axis import Axis, logarithmic

# Room beside the outermost points and above the ceiling: a factor.
_ROOM = 1.5


@dataclass(frozen=True)
class Point:
    """``intensity`` in flop/B, ``rate`` in flop/s, ``limit`` what the ceilings allow there; ``number`` from 1."""

    number: int
    workload: WorkloadReport
    intensity: float
    rate: float
    limit: float
    by_memory: bool
    x: float
    y: float

    @property
    def share(self) -> float:
        return self.rate / self.limit


@dataclass(frozen=True)
class Roofline:
    """``roof``: the slope's foot, the ridge and the far end of the flat part, as percent from left and top."""

    x: Axis
    y: Axis
    roof: list[tuple[float, float]]
    points: list[Point]
    bandwidth: float
    rate: float


def roofline(report: Report) -> Roofline | str:
    """The plot of ``report``'s workloads, or a sentence on why there is none."""
    if not report.workloads:
        return "There are no times to plot."
    known = [(it, it.cost) for it in report.workloads if it.cost is not None]
    if not known:
        return "This result is from before costs and ceilings were kept with the times."
    measured = [(it, cost) for it, cost in known if cost.bandwidth and cost.rate]
    if not measured:
        return f"What {report.device} reaches at most was not measured, so there is no ceiling to plot under."
    plotted = [
        (it, cost, cost.flops / it.time_us * 1e6)
        for it, cost in measured
        if cost.flops > 0 and cost.bytes > 0 and it.time_us is not None
    ]
    if not plotted and any(it.time_us is None for it, _ in measured):
        return f"No time is known well enough to plot: it is {TOO_SHORT}."
    if not plotted:
        return (
            "This challenge moves data and does no arithmetic that counts: the bars above, against the speed of "
            "light, say all that a roofline would."
        )
    return _plot(plotted)


def _plot(plotted: Sequence[tuple[WorkloadReport, WorkloadCost, float]]) -> Roofline:
    """``plotted``: with the rate that was reached, flop/s."""
    bandwidth, rate = plotted[0][1].bandwidth or 1.0, plotted[0][1].rate or 1.0
    ridge = rate / bandwidth
    intensities = [cost.flops / cost.bytes for _, cost, _ in plotted]
    rates = [reached for _, _, reached in plotted]
    x = logarithmic([min(*intensities, ridge) / _ROOM, max(*intensities, ridge) * _ROOM], quantity)
    y = logarithmic([min(*rates, x.low * bandwidth * _ROOM), rate * _ROOM], lambda it: quantity(it, "FLOP/s"))
    foot = max(x.low, y.low / bandwidth)
    roof = [(x.at(foot), y.up(foot * bandwidth)), (x.at(ridge), y.up(rate)), (100.0, y.up(rate))]
    points = [
        Point(
            number=number,
            workload=it,
            intensity=intensity,
            rate=reached,
            limit=min(intensity * bandwidth, rate),
            by_memory=intensity < ridge,
            x=x.at(intensity),
            y=y.up(reached),
        )
        for number, ((it, _, reached), intensity) in enumerate(zip(plotted, intensities, strict=True), 1)
    ]
    return Roofline(x, y, roof, points, bandwidth, rate)
