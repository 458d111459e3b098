from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.formats import duration
from grader.schemas.report import TOO_SHORT, Report, WorkloadCost, WorkloadReport
from grader.service.boards.leaderboard import PastTime
from grader.web.pages.formats import quantity

# More labels overlap on a phone.
_TICKS_MOST = 6
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """``place``: percent along the axis."""

    place: float
    label: str


@dataclass(frozen=True)
class Axis:
    """``log``: in equal factors."""

    low: float
    high: float
    ticks: list[Tick]
    log: bool = False

    def at(self, value: float) -> float:
        """Clipped to 0 to 100 percent."""
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(min(max(share, 0.0), 1.0) * 100, 2)

    def up(self, value: float) -> float:
        """Percent from the top."""
        return round(100 - self.at(value), 2)


def linear(highest: float, label: Callable[[float], str], most: int = _TICKS_MOST) -> Axis:
    """From 0 to a round number at or above ``highest`` (positive)."""
    raw = highest / (most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step * power for step in _STEPS if step * power >= raw * (1 - 1e-9))
    count = math.ceil(highest / step - 1e-9)
    end = step * count
    return Axis(0.0, end, [Tick(round(i / count * 100, 2), label(i * step)) for i in range(count + 1)])


def logarithmic(values: Sequence[float], label: Callable[[float], str], most: int = _TICKS_MOST) -> Axis:
    """Powers of ten around ``values`` (positive)."""
    first = math.floor(math.log10(min(values)) + 1e-9)
    last = math.ceil(math.log10(max(values)) - 1e-9)
    last = max(last, first + 1)
    every = math.ceil((last - first) / (most - 1))
    powers = range(first, last + 1, every)
    ticks = [Tick(round((power - first) / (last - first) * 100, 2), label(10.0**power)) for power in powers]
    return Axis(10.0**first, 10.0**last, ticks, log=True)


# Two more labels need half a phone's width.
_BAR_TICKS_MOST = 5


@dataclass(frozen=True)
class Bar:
    """Percent; ``low`` and ``high``: the interval, if any. ``kind``: own, base or light."""

    label: str
    us: float
    percent: float
    kind: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class WorkloadBars:
    """The submission's first, if timed."""

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
    # Without bars, any length will do.
    axis = linear(max((*ends, *(us for _, us, _ in others)), default=1.0), duration, _BAR_TICKS_MOST)
    bars = [Bar(name, us, _sliver(axis, us), kind) for name, us, kind in others]
    if time_us is not None:
        low, high = (axis.at(bound) for bound in workload.ci_us)
        bars.insert(0, Bar("yours", time_us, _sliver(axis, time_us), "own", low, high))
    return WorkloadBars(workload, bars, axis)


def _sliver(axis: Axis, us: float) -> float:
    return max(1.0, axis.at(us))


# Beyond this factor, a linear axis hides fast ones.
_LINEAR_FACTOR = 12.0
# Percent: half a point and its interval.
_EDGE = 3.0


@dataclass(frozen=True)
class Point:
    """Percent from left and top."""

    past: PastTime
    own: bool
    best: bool
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class HistoryPlot:
    y: Axis
    points: list[Point]

    @property
    def lines(self) -> list[tuple[Point, Point]]:
        return list(zip(self.points, self.points[1:], strict=False))


def history(times: Sequence[PastTime], own: str) -> HistoryPlot | None:
    """``own``: shown. None without others."""
    if len(times) < 2:
        return None
    slowest, fastest = max(past.ci_us[1] for past in times), min(past.ci_us[0] for past in times)
    if fastest > 0 and slowest / fastest > _LINEAR_FACTOR:
        axis = logarithmic([fastest, slowest], duration)
    else:
        axis = linear(slowest, duration)
    best = min(times, key=lambda past: past.time_us)
    step = (100 - 2 * _EDGE) / (len(times) - 1)
    points = [
        Point(
            past=entry,
            own=entry.id == own,
            best=entry is best,
            x=round(_EDGE + place * step, 2),
            y=axis.up(entry.time_us),
            low=axis.up(entry.ci_us[0]),
            high=axis.up(entry.ci_us[1]),
        )
        for place, entry in enumerate(times)
    ]
    return HistoryPlot(axis, points)


# A factor around the outermost points and above the ceiling.
_ROOM = 1.5


@dataclass(frozen=True)
class RooflinePoint:
    """``intensity``: flop/B; ``rate``: flop/s; ``limit``: the ceiling; ``number`` from 1."""

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
    """``roof``: slope's foot, ridge and end, in percent from left and top."""

    x: Axis
    y: Axis
    roof: list[tuple[float, float]]
    points: list[RooflinePoint]
    bandwidth: float
    rate: float


def roofline(report: Report) -> Roofline | str:
    """A plot, or a sentence on why there is none."""
    if not report.workloads:
        return "There are no times to plot."
    known = [(workload, workload.cost) for workload in report.workloads if workload.cost is not None]
    if not known:
        return "This result is older than the roofline: it has no costs and ceilings."
    measured = [(workload, cost) for workload, cost in known if cost.bandwidth and cost.rate]
    if not measured:
        return f"The limits of {report.device} were not measured, so there is no ceiling to plot."
    plotted = [
        (workload, cost, cost.flops / workload.time_us * 1e6)
        for workload, cost in measured
        if cost.flops > 0 and cost.bytes > 0 and workload.time_us is not None
    ]
    if not plotted and any(workload.time_us is None for workload, _ in measured):
        return f"No time is exact enough to plot: it is {TOO_SHORT}."
    if not plotted:
        return (
            "This challenge moves data and does no arithmetic that counts: the bars above, against the speed of "
            "light, show all that a roofline would."
        )
    return _plot(plotted)


def _plot(plotted: Sequence[tuple[WorkloadReport, WorkloadCost, float]]) -> Roofline:
    """``plotted``: with rates in flop/s."""
    bandwidth, rate = plotted[0][1].bandwidth or 1.0, plotted[0][1].rate or 1.0
    ridge = rate / bandwidth
    intensities = [cost.flops / cost.bytes for _, cost, _ in plotted]
    rates = [reached for _, _, reached in plotted]
    x = logarithmic([min(*intensities, ridge) / _ROOM, max(*intensities, ridge) * _ROOM], quantity)
    y = logarithmic(
        [min(*rates, x.low * bandwidth * _ROOM), rate * _ROOM], lambda value: quantity(value, "FLOP/s")
    )
    foot = max(x.low, y.low / bandwidth)
    roof = [(x.at(foot), y.up(foot * bandwidth)), (x.at(ridge), y.up(rate)), (100.0, y.up(rate))]
    points = [
        RooflinePoint(
            number=number,
            workload=workload,
            intensity=intensity,
            rate=reached,
            limit=min(intensity * bandwidth, rate),
            by_memory=intensity < ridge,
            x=x.at(intensity),
            y=y.up(reached),
        )
        for number, ((workload, _, reached), intensity) in enumerate(
            zip(plotted, intensities, strict=True), 1
        )
    ]
    return Roofline(x, y, roof, points, bandwidth, rate)
