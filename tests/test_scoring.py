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
    midmean,
    midmean_error,
    midmean_interval,
    ranks,
    speedup,
)

TIMES = st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=60)


@given(TIMES)
def test_a_midmean_is_within_the_middle_half_and_its_interval(times: list[float]) -> None:
    estimate = midmean_interval(times)
    middle = sorted(times)[len(times) // 4 : len(times) - len(times) // 4]
    assert estimate.interval[0] <= estimate.value <= estimate.interval[1]
    assert middle[0] <= estimate.value * (1 + 1e-12)
    assert estimate.value <= middle[-1] * (1 + 1e-12)


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        ([3.0], 3.0),
        ([1.0, 2.0, 9.0], 4.0),
        ([9.0, 1.0, 2.0, 4.0], 3.0),
        ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 99.0], 3.5),
    ],
)
def test_a_midmean_drops_a_quarter_at_either_end(values: list[float], middle: float) -> None:
    assert midmean(values) == pytest.approx(middle)


def test_the_error_of_a_midmean_uses_winsorized_values() -> None:
    """Of 0 to 7 and an outlier, two are left out at each end; they count as 2 and 6."""
    values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 500.0]
    moved = [2.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0]
    assert midmean_error(values) == pytest.approx(statistics.stdev(moved) * 3 / 5)
    assert midmean_error([2.0] * 5) == midmean_error([2.0]) == 0.0


@pytest.mark.parametrize(
    ("count", "t"), [(2, 12.706), (5, 4.303), (9, 2.776), (13, 2.447), (30, 2.131), (100, 2.010)]
)
def test_the_interval_uses_students_t_of_the_middle_half(count: int, t: float) -> None:
    """With 1, 2, 4, 6, 15 and 49 degrees of freedom, by the table."""
    values = [float(number) for number in range(count)]
    estimate = midmean_interval(values)
    assert (estimate.interval[1] - estimate.value) / midmean_error(values) == pytest.approx(t, rel=2e-3)


@given(st.floats(min_value=0.5, max_value=2.0), TIMES)
def test_the_geometric_mean_scales(factor: float, times: list[float]) -> None:
    scaled = geometric_mean([factor * time for time in times])
    assert scaled == pytest.approx(factor * geometric_mean(times), rel=1e-9)


@pytest.mark.parametrize("values", [[], [1.0, 0.0], [-1.0]])
def test_the_geometric_mean_refuses_bad_values(values: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        geometric_mean(values)


def test_combining_equal_errors_divides_by_the_root_of_their_number() -> None:
    one = Estimate(10.0, (9.0, 11.0))
    whole = combine([one] * 4, 0.0)
    assert whole.value == pytest.approx(10.0)
    assert math.log(whole.interval[1] / whole.value) == pytest.approx(math.log(1.1) / 2)


def test_a_speedup_needs_every_baseline() -> None:
    assert speedup([2.0, 8.0], [4.0, 4.0]) == pytest.approx(1.0)
    assert speedup([2.0, 8.0], [4.0, None]) is None
    assert speedup([], []) is None


def test_an_estimate_is_within_a_share_by_its_wider_side() -> None:
    assert Estimate(10.0, (8.0, 11.0)).within(0.2)
    assert Estimate(10.0, (9.0, 12.0)).within(0.2)
    assert not Estimate(10.0, (7.9, 11.0)).within(0.2)
    assert not Estimate(10.0, (9.0, 12.1)).within(0.2)


def test_a_time_is_known_if_long_and_certain_enough() -> None:
    certain = Estimate(10.0, (9.9, 10.1))
    assert is_known(certain, 9.9)
    assert not is_known(certain, 10.0)
    assert not is_known(certain, 10.0 * (1 - 1e-12)), "the last digits may differ"
    assert is_known(certain, 10.0 * (1 - 1e-8))
    assert is_known(Estimate(10.0, (8.0, 12.0)), 1.0)
    assert not is_known(Estimate(10.0, (7.9, 12.0)), 1.0)


def test_combining_keeps_each_sides_errors_apart() -> None:
    whole = combine([Estimate(10.0, (8.0, 11.0)), Estimate(40.0, (30.0, 50.0))], 0.0)
    low, high = whole.interval
    assert whole.value == pytest.approx(20.0)
    assert math.log(whole.value / low) == pytest.approx(math.hypot(math.log(10 / 8), math.log(40 / 30)) / 2)
    assert math.log(high / whole.value) == pytest.approx(math.hypot(math.log(1.1), math.log(1.25)) / 2)


def test_a_rank_counts_times_faster_by_more_than_the_resolution() -> None:
    assert ranks([2.6, 1.0, 1.25, 1.2], 0.25) == [4, 1, 1, 1]
    assert ranks([2.6, 1.0, 1.25, 1.2], 0.0) == [4, 1, 3, 2]
    assert ranks([1.0, 1.0], 0.0) == [1, 1]
    assert ranks([], 0.1) == []


def test_the_shortest_time_is_a_tenth_of_a_microsecond() -> None:
    assert pytest.approx(1e-7, rel=1e-12) == scoring.SHORTEST_S


def test_an_error_shared_by_all_sizes_does_not_average_out() -> None:
    """Four sizes were timed in one box, which makes all of them longer or shorter by up to 0.2 %."""
    only_the_box = Estimate(10.0, (10.0 * math.exp(-0.002), 10.0 * math.exp(0.002)))
    whole = combine([only_the_box] * 4, 0.002)
    assert math.log(whole.interval[1] / whole.value) == pytest.approx(0.002)
    rounds_too = Estimate(10.0, (10.0 * math.exp(-0.005), 10.0 * math.exp(0.005)))
    assert combine([rounds_too], 0.002).interval == pytest.approx(rounds_too.interval)
    low, high = combine([rounds_too] * 4, 0.002).interval
    alone = math.sqrt(0.005**2 - 0.002**2)
    assert math.log(high / low) / 2 == pytest.approx(math.hypot(0.002, alone / 2))


def test_exact_times_share_no_error() -> None:
    assert combine([Estimate(10.0, (10.0, 10.0))] * 2, 0.002).interval == pytest.approx((10.0, 10.0))
