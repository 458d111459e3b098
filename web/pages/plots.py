"""Bars, as data for the templates' inline SVG: widths are computed here, so that no page needs an inline style."""

from __future__ import annotations

from dataclasses import dataclass

from grader.schemas.report import WorkloadReport
from grader.schemas.submission import LeaderboardEntry


@dataclass(frozen=True)
class Bar:
    """One bar of a plot; ``percent`` of the full width, ``low`` and ``high`` the ends of its interval, if any."""

    label: str
    us: float
    percent: float
    own: bool
    low: float | None = None
    high: float | None = None


def workload_bars(workload: WorkloadReport) -> list[Bar]:
    """The submission's time above its baselines': shorter is faster."""
    longest = max([workload.ci_us[1], *workload.baselines_us.values()])
    low, high = (round(bound / longest * 100, 2) for bound in workload.ci_us)
    own = Bar("this", workload.time_us, _share(workload.time_us, longest), True, low, high)
    return [own] + [
        Bar(name, us, _share(us, longest), False) for name, us in sorted(workload.baselines_us.items())
    ]


def speedup_bars(entries: list[LeaderboardEntry]) -> dict[str, float]:
    """Submission id -> percent of the best speedup on the board."""
    best = max((entry.speedup or 0.0 for entry in entries), default=0.0)
    return {entry.submission: _share(entry.speedup or 0.0, best) for entry in entries}


def _share(value: float, whole: float) -> float:
    """Percent, at least a sliver that can be seen."""
    return round(max(1.0, value / whole * 100), 2) if whole > 0 else 0.0
