from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.scoring import (
    Estimate,
    combine,
    geometric_mean,
    median_error,
    median_interval,
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
