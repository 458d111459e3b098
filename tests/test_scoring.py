from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import scoring
from grader.scoring import (
    Estimate,
    combine,
    geometric_mean,
    is_known,
    median_error,
    median_interval,
    ranks,
    speedup,
)

TIMES = st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=60)


@given(TIMES)
def test_an_interval_holds_its_median(times: list[float]) -> None:
    estimate = median_interval(times)
    assert estimate.interval[0] <= estimate.value <= estimate.interval[1]
    assert estimate.value == statistics.median(times)


def test_the_interval_of_a_median_uses_the_binomial_ranks() -> None:
    # For n = 20 the textbook's ranks (1-based) are 6 and 15; the normal approximation rounds outwards to 6 and 16.
    assert median_interval([float(it) for it in range(1, 21)]).interval == (6.0, 16.0)


def test_few_values_give_their_range() -> None:
    assert median_interval([3.0, 1.0, 2.0]).interval == (1.0, 3.0)


@given(st.floats(min_value=0.5, max_value=2.0), TIMES)
def test_geometric_mean_scales(factor: float, times: list[float]) -> None:
    scaled = geometric_mean([factor * it for it in times])
    assert scaled == pytest.approx(factor * geometric_mean(times), rel=1e-9)


@pytest.mark.parametrize("values", [[], [1.0, 0.0], [-1.0]])
def test_geometric_mean_refuses(values: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        geometric_mean(values)


def test_combining_equal_errors_divides_by_the_root_of_their_number() -> None:
    one = Estimate(10.0, (9.0, 11.0))
    whole = combine([one] * 4)
    assert whole.value == pytest.approx(10.0)
    assert math.log(whole.interval[1] / whole.value) == pytest.approx(math.log(1.1) / 2)


def test_speedup_needs_every_baseline() -> None:
    assert speedup([2.0, 8.0], [4.0, 4.0]) == pytest.approx(1.0)
    assert speedup([2.0, 8.0], [4.0, None]) is None
    assert speedup([], []) is None


def test_median_error_of_equal_values_is_zero() -> None:
    assert median_error([2.0] * 5) == 0.0


def test_median_error_is_that_of_normal_data() -> None:
    """sqrt(pi / 2) * 1.4826 * the median absolute deviation (here 1) / sqrt(n)."""
    assert median_error([1.0, 2.0, 3.0, 4.0]) == pytest.approx(1.2533141 * 1.4826 * 1.0 / 2, rel=1e-6)


def test_an_estimate_is_within_a_share_that_its_further_end_keeps() -> None:
    assert Estimate(10.0, (8.0, 11.0)).within(0.2)
    assert Estimate(10.0, (9.0, 12.0)).within(0.2)
    assert not Estimate(10.0, (7.9, 11.0)).within(0.2)
    assert not Estimate(10.0, (9.0, 12.1)).within(0.2)


def test_a_time_is_known_where_it_is_longer_than_the_resolution_and_certain_enough() -> None:
    certain = Estimate(10.0, (9.9, 10.1))
    assert is_known(certain, 9.9)
    assert not is_known(certain, 10.0)
    assert not is_known(certain, 10.0 * (1 - 1e-12)), "the last digits may differ"
    assert is_known(certain, 10.0 * (1 - 1e-8))
    assert is_known(Estimate(10.0, (8.0, 12.0)), 1.0)
    assert not is_known(Estimate(10.0, (7.9, 12.0)), 1.0)


def test_combining_keeps_each_sides_errors_apart() -> None:
    whole = combine([Estimate(10.0, (8.0, 11.0)), Estimate(40.0, (30.0, 50.0))])
    low, high = whole.interval
    assert whole.value == pytest.approx(20.0)
    assert math.log(whole.value / low) == pytest.approx(math.hypot(math.log(10 / 8), math.log(40 / 30)) / 2)
    assert math.log(high / whole.value) == pytest.approx(math.hypot(math.log(1.1), math.log(1.25)) / 2)


def test_ranks_count_who_is_faster_by_more_than_the_resolution() -> None:
    assert ranks([2.6, 1.0, 1.25, 1.2], 0.25) == [4, 1, 1, 1]
    assert ranks([2.6, 1.0, 1.25, 1.2], 0.0) == [4, 1, 3, 2]
    assert ranks([1.0, 1.0], 0.0) == [1, 1]
    assert ranks([], 0.1) == []


@pytest.mark.parametrize("count", [6, 9, 14])
def test_the_interval_of_few_values_leaves_out_none_that_it_may_not(count: int) -> None:
    """The ranks (from 0) are floor and ceil of n/2 -+ 1.96 sqrt(n)/2, within the values there are."""
    half = 1.959964 * math.sqrt(count) / 2
    low, high = max(0, math.floor(count / 2 - half)), min(count - 1, math.ceil(count / 2 + half))
    assert median_interval([float(it) for it in range(count)]).interval == (low, high)


def test_the_shortest_time_is_a_tenth_of_a_microsecond() -> None:
    assert pytest.approx(1e-7, rel=1e-12) == scoring.SHORTEST_S
