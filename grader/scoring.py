"""Scores from measured times."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

Interval = tuple[float, float]

# Normal distribution, two-sided.
Z95 = 1.959964
# Student's t for one to four degrees of freedom; beyond, an expansion is accurate.
_T95 = (12.7062, 4.3027, 3.1824, 2.7764)

# A known time's 95 % interval is within this share. Honest kernels reach a few percent on a busy CPU.
KNOWN_WITHIN = 0.2

# Only a call that does nothing can take less.
SHORTEST_S = 1e-7


@dataclass(frozen=True)
class Estimate:
    """With its 95 % interval, in one unit."""

    value: float
    interval: Interval

    def within(self, share: float) -> bool:
        low, high = self.interval
        return max(high - self.value, self.value - low) <= share * self.value


def is_known(estimate: Estimate, resolution: float) -> bool:
    """Longer than ``resolution`` (same unit), with an interval within KNOWN_WITHIN."""
    # Logarithms and JSON change last digits.
    return estimate.value > resolution * (1 + 1e-9) and estimate.within(KNOWN_WITHIN)


def midmean(values: Sequence[float]) -> float:
    """The mean without a quarter of the values, rounded down, at each end. Raises ValueError without values.

    Outliers of less than a quarter move it little; its standard error for normal values is a seventh below
    the median's.
    """
    return statistics.fmean(_middle(values))


def midmean_error(values: Sequence[float]) -> float:
    """From the winsorized variance (Tukey and McLaughlin 1963); 0 for a single value."""
    count = len(values)
    if count < 2:
        return 0.0
    left_out = count // 4
    middle = _middle(values)
    moved = [middle[0]] * left_out + middle + [middle[-1]] * left_out
    return statistics.stdev(moved) * math.sqrt(count) / len(middle)


def midmean_interval(values: Sequence[float]) -> Estimate:
    """The 95 % interval by Student's t, with the degrees of freedom of the middle half. Raises ValueError
    without values.
    """
    value = midmean(values)
    half = _t95(len(values) - 2 * (len(values) // 4) - 1) * midmean_error(values)
    return Estimate(value, (value - half, value + half))


def _middle(values: Sequence[float]) -> list[float]:
    left_out = len(values) // 4
    return sorted(values)[left_out : len(values) - left_out]


def _t95(freedom: int) -> float:
    """Cornish-Fisher expansion (Abramowitz and Stegun, 26.7.5)."""
    if freedom <= len(_T95):
        return _T95[max(freedom, 1) - 1]
    first = (Z95**3 + Z95) / 4
    second = (5 * Z95**5 + 16 * Z95**3 + 3 * Z95) / 96
    third = (3 * Z95**7 + 19 * Z95**5 + 17 * Z95**3 - 15 * Z95) / 384
    return Z95 + first / freedom + second / freedom**2 + third / freedom**3


def geometric_mean(values: Sequence[float]) -> float:
    """Raises ValueError without values, or if one is not positive."""
    if not values or min(values) <= 0:
        raise ValueError("a geometric mean needs positive values")
    return math.exp(statistics.fmean(math.log(value) for value in values))


def combine(estimates: Sequence[Estimate], shared: float) -> Estimate:
    """The geometric mean. Errors are independent except for ``shared``, a share of each value by which all
    may be off together.
    """
    value = geometric_mean([estimate.value for estimate in estimates])
    down = _log_error([math.log(estimate.value / estimate.interval[0]) for estimate in estimates], shared)
    up = _log_error([math.log(estimate.interval[1] / estimate.value) for estimate in estimates], shared)
    return Estimate(value, (value * math.exp(-down), value * math.exp(up)))


def _log_error(halves: Sequence[float], shared: float) -> float:
    together = [min(half, shared) for half in halves]
    squares = sum(half * half - part * part for half, part in zip(halves, together, strict=True))
    return math.hypot(sum(together), math.sqrt(squares)) / len(halves)


def speedup(times_us: Sequence[float], baselines_us: Sequence[float | None]) -> float | None:
    """Baseline / time; None if a baseline is missing."""
    known = [base for base in baselines_us if base is not None]
    if not times_us or len(known) != len(times_us):
        return None
    return geometric_mean([base / time for base, time in zip(known, times_us, strict=True)])


def is_faster(time: float, other: float, resolution: float) -> bool:
    """``resolution``: a share of the time."""
    return time < other / (1 + resolution)


def ranks(times: Sequence[float], resolution: float) -> list[int]:
    """Times that a board cannot tell apart share a rank."""
    ordered = sorted(times)
    return [bisect_left(ordered, time / (1 + resolution)) + 1 for time in times]
