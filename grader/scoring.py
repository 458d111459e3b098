"""Pure functions from measured times to scores: medians with intervals, geometric means, speedups, SOL."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

Interval = tuple[float, float]

# Two-sided 95 % of the normal distribution.
Z95 = 1.959964
# Standard error of a median relative to that of a mean, for normal data: sqrt(pi / 2).
MEDIAN_FACTOR = math.sqrt(math.pi / 2)
# Standard deviation / median absolute deviation, for normal data.
MAD_TO_SIGMA = 1.4826

# A time is known where its 95 % interval lies within this share of it. Honest kernels reach a few percent on a busy
# CPU; beyond this, two kernels that differ by half could not be distinguished.
KNOWN_WITHIN = 0.2

# A time after corrections can come out at or below zero only for a call that does nothing; it is cut off here, seconds.
SHORTEST_S = 1e-7


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, in one unit."""

    value: float
    interval: Interval

    def within(self, share: float) -> bool:
        """Whether neither end of the interval is further off than this share of the value."""
        low, high = self.interval
        return max(high - self.value, self.value - low) <= share * self.value


def is_known(estimate: Estimate, resolution: float) -> bool:
    """Whether a time may be shown and ranked: longer than ``resolution`` (in its unit), and neither end of its interval
    further off than KNOWN_WITHIN of it. Any other says more of the machine's noise than of the kernel."""
    # Times go through logarithms and JSON on their way: the last digits may differ.
    return estimate.value > resolution * (1 + 1e-9) and estimate.within(KNOWN_WITHIN)


def median_interval(values: Sequence[float]) -> Estimate:
    """The median and its distribution-free 95 % interval by order statistics.

    The ranks are those of a binomial(n, 1/2), by the normal approximation (Conover, Practical Nonparametric
    Statistics, 3.2). Under six values the interval is the whole range: no 95 % interval exists.
    Raises ValueError on no values.
    """
    ordered = sorted(values)
    count = len(ordered)
    half = Z95 * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - half))
    high = min(count - 1, math.ceil(count / 2 + half))
    return Estimate(statistics.median(ordered), (ordered[low], ordered[high]))


def median_error(values: Sequence[float]) -> float:
    """A robust standard error of the median, from the median absolute deviation."""
    middle = statistics.median(values)
    deviation = statistics.median([abs(value - middle) for value in values])
    return MEDIAN_FACTOR * MAD_TO_SIGMA * deviation / math.sqrt(len(values))


def geometric_mean(values: Sequence[float]) -> float:
    """Raises ValueError on no values or on one that is not positive."""
    if not values or min(values) <= 0:
        raise ValueError("a geometric mean needs positive values")
    return math.exp(statistics.fmean(math.log(value) for value in values))


def combine(estimates: Sequence[Estimate]) -> Estimate:
    """The geometric mean of independent estimates; relative errors add in squares on the log scale."""
    value = geometric_mean([estimate.value for estimate in estimates])
    down = _log_error([math.log(it.value / it.interval[0]) for it in estimates])
    up = _log_error([math.log(it.interval[1] / it.value) for it in estimates])
    return Estimate(value, (value * math.exp(-down), value * math.exp(up)))


def _log_error(halves: Sequence[float]) -> float:
    return math.sqrt(sum(half * half for half in halves)) / len(halves)


def speedup(times_us: Sequence[float], baselines_us: Sequence[float | None]) -> float | None:
    """Geometric mean of baseline / time over workloads; None where a baseline is missing."""
    known = [base for base in baselines_us if base is not None]
    if not times_us or len(known) != len(times_us):
        return None
    return geometric_mean([base / time for base, time in zip(known, times_us, strict=True)])


def is_faster(time: float, other: float, resolution: float) -> bool:
    """Whether ``time`` is shorter than ``other`` by more than a board's ``resolution``, a share of it."""
    return time < other / (1 + resolution)


def ranks(times: Sequence[float], resolution: float) -> list[int]:
    """1 + the number of times that are faster than each (``is_faster``), so that those that a board cannot tell apart
    share a rank."""
    ordered = sorted(times)
    return [bisect_left(ordered, time / (1 + resolution)) + 1 for time in times]
