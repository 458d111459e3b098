"""Pure functions from measured times to scores: middle values with intervals, geometric means, speedups, SOL."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

Interval = tuple[float, float]

# Two-sided 95 % of the normal distribution.
Z95 = 1.959964
# Two-sided 95 % of Student's t for one, two, three and four degrees of freedom; beyond, an expansion is exact enough.
_T95 = (12.7062, 4.3027, 3.1824, 2.7764)

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


def midmean(values: Sequence[float]) -> float:
    """The mean of the middle half: a quarter of ``values``, rounded down, is left out at either end.

    Less than a quarter of them, whatever they are, moves it by no more than the others differ by; and of values that
    are as normal as most rounds are, it varies a seventh less than their median does.
    Raises ValueError on no values.
    """
    return statistics.fmean(_middle(values))


def midmean_error(values: Sequence[float]) -> float:
    """The standard error of ``midmean``, by the variance of the values with each outer quarter moved to the value that
    is next to it (Tukey and McLaughlin 1963); 0 for a single value."""
    count = len(values)
    if count < 2:
        return 0.0
    left_out = count // 4
    middle = _middle(values)
    moved = [middle[0]] * left_out + middle + [middle[-1]] * left_out
    return statistics.stdev(moved) * math.sqrt(count) / len(middle)


def midmean_interval(values: Sequence[float]) -> Estimate:
    """The midmean and its 95 % interval, by Student's t with as many degrees of freedom as the middle half has.
    Raises ValueError on no values."""
    value = midmean(values)
    half = _t95(len(values) - 2 * (len(values) // 4) - 1) * midmean_error(values)
    return Estimate(value, (value - half, value + half))


def _middle(values: Sequence[float]) -> list[float]:
    left_out = len(values) // 4
    return sorted(values)[left_out : len(values) - left_out]


def _t95(freedom: int) -> float:
    """Cornish and Fisher's expansion, three terms of it (Abramowitz and Stegun, 26.7.5)."""
    if freedom <= len(_T95):
        return _T95[max(freedom, 1) - 1]
    first = (Z95**3 + Z95) / 4
    second = (5 * Z95**5 + 16 * Z95**3 + 3 * Z95) / 96
    third = (3 * Z95**7 + 19 * Z95**5 + 17 * Z95**3 - 15 * Z95) / 384
    return Z95 + first / freedom + second / freedom**2 + third / freedom**3


def geometric_mean(values: Sequence[float]) -> float:
    """Raises ValueError on no values or on one that is not positive."""
    if not values or min(values) <= 0:
        raise ValueError("a geometric mean needs positive values")
    return math.exp(statistics.fmean(math.log(value) for value in values))


def combine(estimates: Sequence[Estimate], shared: float) -> Estimate:
    """The geometric mean of estimates that are independent, but for a ``shared`` share of each value that the half of
    its interval holds and by which all may be off together. On the log scale, the former errors add in squares and the
    latter as they are: a mean does not make them less."""
    value = geometric_mean([estimate.value for estimate in estimates])
    down = _log_error([math.log(it.value / it.interval[0]) for it in estimates], shared)
    up = _log_error([math.log(it.interval[1] / it.value) for it in estimates], shared)
    return Estimate(value, (value * math.exp(-down), value * math.exp(up)))


def _log_error(halves: Sequence[float], shared: float) -> float:
    together = [min(half, shared) for half in halves]
    squares = sum(half * half - part * part for half, part in zip(halves, together, strict=True))
    return math.hypot(sum(together), math.sqrt(squares)) / len(halves)


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
