"""The rule that turns gate times and windows into a time per call, on made-up and thus exact rounds."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from grader.judge import rule
from grader.judge.device import Floor, Noise
from grader.judge.round_costs import RoundCosts, Usual
from grader.judge.rule import Measured, Own, settle
from grader.judge.runner_client import Timed
from grader.scoring import Z95, Estimate, midmean_error

CONTROL_S = 1e-3
FIXED = 150e-6


def rounds(gate: float, before: float = 2e-3, after: float = 2e-3, count: int = 15) -> list[Timed]:
    """``count`` rounds with a little deterministic jitter around these (seconds)."""
    jitter = [(number % 5 - 2) * 1e-6 for number in range(count)]
    return [
        Timed(before=before + seconds, gate=gate + seconds, after=after + seconds, host=1e-5)
        for seconds in jitter
    ]


def own(gate: float, before: float = 2e-3, after: float = 2e-3) -> Own:
    return Own(rounds(gate, before, after), gated=True)


CONTROL = [(timed, CONTROL_S) for timed in rounds(CONTROL_S + FIXED)]
FLOOR_S = 0.3e-3
NOISE = Noise(before=Floor(0.05, FLOOR_S), after=Floor(0.05, FLOOR_S), most=1.0, disturbed=math.inf)
EXACT = Noise(before=Floor(0.0, 1e-6), after=Floor(0.0, 1e-6), most=0.01, disturbed=30e-6)
SIDES = pytest.mark.parametrize("side", ["before", "after"])


def test_only_the_fixed_cost_is_subtracted_from_an_honest_call() -> None:
    measured = settle(own(20e-3 + FIXED), CONTROL, CONTROL, NOISE)
    assert measured.time.value == pytest.approx(20e-3, rel=1e-6)
    assert measured.charged == 0.0


@SIDES
@pytest.mark.parametrize("hidden", [5e-3, 15e-3, 20e-3])
def test_work_outside_the_gate_is_charged_in_full(hidden: float, side: str) -> None:
    """Moving ``hidden`` seconds before or after the gate shortens G, and lengthens the other part as much."""
    measured = settle(own(20e-3 + FIXED - hidden, **{side: 2e-3 + hidden}), CONTROL, CONTROL, NOISE)
    assert measured.charged == pytest.approx(hidden, rel=1e-6)
    assert measured.time.value == pytest.approx(20e-3, rel=1e-3)
    assert measured.plainly_charged


def test_work_on_both_sides_of_the_gate_is_charged_on_both() -> None:
    measured = settle(own(20e-3 + FIXED - 5e-3, 4e-3, 5e-3), CONTROL, CONTROL, NOISE)
    assert measured.charged == pytest.approx(5e-3, rel=1e-6)


@SIDES
def test_noise_in_the_window_is_not_charged(side: str) -> None:
    measured = settle(own(20e-3 + FIXED, **{side: 2e-3 + 0.9 * FLOOR_S}), CONTROL, CONTROL, NOISE)
    assert measured.charged == 0.0


@SIDES
@pytest.mark.parametrize("share", [1.1, 1.5, 1.9])
def test_slightly_beyond_noise_only_the_excess_is_charged(share: float, side: str) -> None:
    measured = settle(own(20e-3 + FIXED, **{side: 2e-3 + share * FLOOR_S}), CONTROL, CONTROL, NOISE)
    assert measured.charged == pytest.approx((share - 1) * FLOOR_S, rel=1e-6)
    assert not measured.plainly_charged


def test_two_sides_slightly_beyond_noise_are_not_plainly_charged() -> None:
    outside = 2e-3 + 1.9 * FLOOR_S
    both = settle(own(20e-3 + FIXED, before=outside, after=outside), CONTROL, CONTROL, NOISE)
    assert both.charged == pytest.approx(1.8 * FLOOR_S, rel=1e-6)
    assert not both.plainly_charged
    early = settle(own(20e-3 + FIXED, before=2e-3 + 2.01 * FLOOR_S, after=outside), CONTROL, CONTROL, NOISE)
    assert early.plainly_charged


@SIDES
@pytest.mark.parametrize("share", [0.5, 0.99, 1.01, 1.5, 1.99, 2.01, 10.0])
def test_hidden_work_gains_no_more_than_the_noise(share: float, side: str) -> None:
    hidden = share * FLOOR_S
    measured = settle(own(20e-3 + FIXED - hidden, **{side: 2e-3 + hidden}), CONTROL, CONTROL, NOISE)
    assert 20e-3 - measured.time.value <= FLOOR_S + 1e-9


def test_each_side_has_its_noise_floor() -> None:
    """Little may be hidden before the gate, however much the look after it varies."""
    noise = Noise(before=Floor(0.0, 2e-6), after=Floor(0.0, 50e-6), most=0.01, disturbed=1.0)
    early = settle(own(20e-3 + FIXED, before=2e-3 + 30e-6), CONTROL, CONTROL, noise)
    late = settle(own(20e-3 + FIXED, after=2e-3 + 30e-6), CONTROL, CONTROL, noise)
    assert early.charged == pytest.approx(30e-6, rel=1e-6)
    assert early.plainly_charged
    assert late.charged == 0.0


def test_speed_after_the_gate_does_not_offset_work_before_it() -> None:
    early = [
        Timed(before=timed.before + 5e-3, gate=timed.gate - 5e-3, after=0.0, host=0.0)
        for timed in rounds(20e-3 + FIXED)
    ]
    measured = settle(Own(early, gated=True), CONTROL, CONTROL, NOISE)
    assert measured.charged == pytest.approx(5e-3, rel=1e-6)


def test_the_interval_includes_the_spread_of_the_fixed_cost() -> None:
    def width(spread: float) -> float:
        control = [
            (Timed(before=2e-3, gate=CONTROL_S + FIXED + seconds, after=2e-3, host=0.0), CONTROL_S)
            for seconds in (-spread, -spread, 0.0, spread, spread)
        ]
        low, high = settle(own(20e-3 + FIXED), control, control, NOISE).time.interval
        return high - low

    assert width(2e-3) > 2 * width(0.0)


@SIDES
def test_a_drifting_control_widens_the_interval(side: str) -> None:
    drifted = {side: 2.05e-3}
    later = [(timed, CONTROL_S) for timed in rounds(CONTROL_S + FIXED, **drifted)]
    assert settle(own(20e-3 + FIXED, **drifted), CONTROL, later, EXACT).charged == 0.0
    assert settle(own(20e-3 + FIXED, **drifted), CONTROL, CONTROL, EXACT).charged > 0.0


@SIDES
def test_drift_and_uneven_rounds_hide_no_more_than_a_share_of_the_time(side: str) -> None:
    """A submission may have caused it: by heating the GPU, say."""
    drifted = {side: 20e-3}
    much_later = [(timed, CONTROL_S) for timed in rounds(CONTROL_S + FIXED, **drifted)]
    measured = settle(own(20e-3 + FIXED, **drifted), CONTROL, much_later, EXACT)
    assert measured.noise == pytest.approx(EXACT.most * 20e-3, rel=1e-3)
    assert measured.charged > 0.0


@pytest.mark.parametrize("slow_first", [True, False])
def test_a_slowed_control_is_left_out(slow_first: bool) -> None:
    """A submission may have left something behind that keeps the GPU busy."""
    slow = [(timed, CONTROL_S) for timed in rounds(CONTROL_S + FIXED + 140e-6, before=3e-3)]
    halves = (slow, CONTROL) if slow_first else (CONTROL, slow)
    honest = settle(own(2e-3 + FIXED), *halves, EXACT)
    assert honest.time.value == pytest.approx(2e-3, rel=1e-6)
    assert honest.drift == pytest.approx(140e-6, rel=1e-6)
    assert honest.doubtful
    early = settle(own(2e-3 + FIXED - 0.5e-3, before=2e-3 + 0.5e-3), *halves, EXACT)
    assert early.time.value == pytest.approx(2e-3, rel=1e-6)
    assert early.plainly_charged


def test_a_steady_control_is_used_as_a_whole() -> None:
    later = [(timed, CONTROL_S) for timed in rounds(CONTROL_S + FIXED + 0.5e-6)]
    measured = settle(own(2e-3 + FIXED), CONTROL, later, EXACT)
    assert measured.fixed == pytest.approx(FIXED + 0.25e-6, abs=0.3e-6)
    assert not measured.doubtful


@pytest.mark.parametrize("slow", [3, 7, 10])
def test_disturbed_control_rounds_are_left_out(slow: int) -> None:
    """``slow`` of the 15 rounds in each half took one more context switch."""
    mixed = [
        (replace(timed, gate=timed.gate + 140e-6) if number % 15 < slow else timed, known)
        for number, (timed, known) in enumerate(CONTROL)
    ]
    measured = settle(own(2e-3 + FIXED), mixed, mixed, EXACT)
    assert measured.time.value == pytest.approx(2e-3, abs=2e-6)
    assert measured.disturbed == pytest.approx(slow / 15)
    assert measured.doubtful == (slow > 3)


def test_an_empty_call_is_not_doubtful_as_such() -> None:
    later = [(timed, CONTROL_S) for timed in rounds(CONTROL_S + FIXED + 1e-6)]
    measured = settle(own(2e-6 + FIXED), CONTROL, later, EXACT)
    assert measured.drift == pytest.approx(1e-6, rel=1e-3)
    assert not measured.doubtful


def test_a_slowed_control_widens_no_interval() -> None:
    """A wide one shares better ranks."""
    slow = [(timed, CONTROL_S) for timed in rounds(CONTROL_S + FIXED + 140e-6)]
    apart, alike = (settle(own(2e-3 + FIXED), CONTROL, half, EXACT).time for half in (slow, CONTROL))
    assert apart.interval[1] - apart.interval[0] < 1.5 * (alike.interval[1] - alike.interval[0])


def test_a_window_shorter_than_the_controls_gains_nothing() -> None:
    measured = settle(own(20e-3 + FIXED, 0.5e-3, 0.5e-3), CONTROL, CONTROL, NOISE)
    assert measured.time.value == pytest.approx(20e-3, rel=1e-6)


def test_a_call_that_does_nothing_has_a_positive_time() -> None:
    measured = settle(own(FIXED / 2), CONTROL, CONTROL, NOISE)
    assert measured.time.value > 0
    assert measured.time.interval[0] > 0


MEASURED = Measured(
    time=Estimate(1e-3, (0.9e-3, 1.1e-3)),
    rounds=15,
    host=1e-5,
    charged=0.0,
    fixed=150e-6,
    drift=0.0,
    disturbed=0.0,
    beyond=(0.0, 0.0),
    noise=1e-6,
    gated=True,
)


@pytest.mark.parametrize(
    ("changes", "doubtful"),
    [
        ({}, False),
        ({"charged": 1e-6}, False),
        ({"charged": 1.1e-6}, True),
        ({"drift": 0.01 * 1.15e-3}, False),
        ({"drift": 0.0101 * 1.15e-3}, True),
        ({"uneven": 0.2}, False),
        ({"uneven": 0.21}, True),
        ({"disturbed": 0.2}, False),
        ({"disturbed": 0.21}, True),
    ],
)
def test_a_possibly_disturbed_time_is_doubtful(changes: dict[str, float], doubtful: bool) -> None:
    assert replace(MEASURED, **changes).doubtful is doubtful


@pytest.mark.parametrize(
    ("low", "value", "high", "known", "short"),
    [
        (0.9e-3, 1e-3, 1.1e-3, True, False),
        (0.7e-3, 1e-3, 1.3e-3, False, False),
        (10e-6, 100e-6, 150e-6, False, True),
        (10e-6, 100e-6, 151e-6, False, False),
        (95e-6, 100e-6, 105e-6, True, False),
    ],
)
def test_only_times_surely_below_a_rounds_cost_are_too_short(
    low: float, value: float, high: float, known: bool, short: bool
) -> None:
    measured = replace(MEASURED, time=Estimate(value, (low, high)))
    assert (measured.known, measured.short) == (known, short)


def test_a_time_shorter_than_the_controls_drift_is_not_known() -> None:
    assert not replace(MEASURED, drift=1e-3).known
    assert replace(MEASURED, drift=0.99e-3).known


@pytest.mark.parametrize(
    ("beyond", "charged"), [(-1.0, 0.0), (0.9, 0.0), (1.5, 0.5), (2.0, 2.0), (2.5, 2.5), (1.999, 0.999)]
)
def test_a_side_beyond_twice_its_noise_is_charged_in_full(beyond: float, charged: float) -> None:
    assert rule._Side(beyond, 0.1, 1.0).charged == pytest.approx(charged)


def test_rounds_within_the_disturbance_limit_count() -> None:
    """The quickest quarter of eight begins at the third."""
    given = [9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert rule._undisturbed(given, 2.0) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_control_counts_whole_if_its_halves_agree_within_three_errors() -> None:
    first = [0.0, 1.0, 2.0, 3.0, 4.0]
    error = math.hypot(midmean_error(first), midmean_error(first))
    for share, whole in ((2.99, True), (3.01, False)):
        second = [cost + share * error for cost in first]
        control = rule._Control(first, second)
        assert control.usual(math.inf) == ([*first, *second] if whole else first)
    drifted = rule._Control(first, [cost + 1.0 for cost in first])
    assert drifted.usual(1.0) == [*drifted.first, *drifted.second]
    assert drifted.usual(0.99) == first


def test_the_interval_adds_the_spreads_in_quadrature() -> None:
    gate = Estimate(10.0, (9.0, 13.0))
    time = rule._corrected(gate, -2.0, [0.5])
    boxes = 0.002 * 8.0
    assert time.value == 8.0
    assert time.interval == pytest.approx(
        (8.0 - math.hypot(1.0, 0.5, boxes), 8.0 + math.hypot(3.0, 0.5, boxes))
    )


def test_the_interval_includes_the_errors_of_control_and_charged_side() -> None:
    spread = [
        Timed(before=2e-3 + seconds, gate=2e-3, after=2e-3, host=1e-5)
        for seconds in (-2e-5, -1e-5, 0.0, 1e-5, 2e-5)
    ]
    hidden = [replace(timed, before=timed.before + 1e-3) for timed in spread]
    steady = [(replace(timed, gate=CONTROL_S + FIXED + (timed.before - 2e-3)), CONTROL_S) for timed in spread]
    measured = settle(Own(hidden, gated=True), steady, steady, replace(EXACT, most=1.0, disturbed=math.inf))
    of_ten = midmean_error([timed.before for timed in spread] * 2)
    of_side = math.hypot(midmean_error([timed.before for timed in spread]), of_ten)
    expected = math.hypot(Z95 * of_ten, Z95 * of_side, 0.002 * measured.time.value)
    assert measured.time.interval[1] - measured.time.value == pytest.approx(expected, rel=1e-6)


def test_the_reported_noise_is_of_the_side_furthest_beyond_its_floor() -> None:
    noise = Noise(before=Floor(0.0, 1e-4), after=Floor(0.0, 1e-3), most=1.0, disturbed=math.inf)
    measured = settle(own(20e-3 + FIXED, before=2e-3 + 0.9e-4, after=2e-3 + 2e-4), CONTROL, CONTROL, noise)
    assert measured.noise == pytest.approx(1e-4)


def test_control_halves_that_differ_too_much_do_not_both_count() -> None:
    """Even if their own spread would allow it: here by 0.5 ms, of a gate of 20 ms one percent of which is 0.2 ms."""
    spread = [FIXED + seconds for seconds in (0.0, 0.5e-3, 1e-3, 1.5e-3, 2e-3)]
    quick = [(Timed(2e-3, CONTROL_S + seconds, 2e-3, 1e-5), CONTROL_S) for seconds in spread]
    slow = [(Timed(2e-3, CONTROL_S + seconds + 0.5e-3, 2e-3, 1e-5), CONTROL_S) for seconds in spread]
    noise = replace(EXACT, disturbed=math.inf)
    assert settle(own(20e-3), slow, quick, noise).fixed == pytest.approx(FIXED + 1e-3)
    assert settle(own(20e-3), slow, quick, replace(noise, most=1.0)).fixed == pytest.approx(FIXED + 1.25e-3)


def test_a_call_of_no_time_gets_the_shortest_time() -> None:
    measured = settle(own(FIXED), CONTROL, CONTROL, NOISE)
    assert measured.time.value == pytest.approx(1e-7)
    assert measured.time.interval[0] == pytest.approx(1e-7)
    assert measured.time.interval[1] < 1e-5


@pytest.mark.parametrize(("slow_us", "uneven"), [(140.0, 0.6), (8.0, 0.0)])
def test_uneven_rounds_are_doubtful(slow_us: float, uneven: float) -> None:
    """One more switch of contexts, 140 us, in three rounds of five; honest rounds differ by a few."""
    own = [*rounds(0.5e-3, count=12), *rounds(0.5e-3 + slow_us * 1e-6, count=18)]
    control = [(timed, 1e-3) for timed in rounds(1.3e-3)]
    measured = settle(Own(own, gated=True), control, control, EXACT)
    assert measured.uneven == pytest.approx(uneven)
    assert measured.doubtful == (uneven > rule.MOST_DISTURBED)


def test_an_unusual_round_cost_means_company() -> None:
    costs = RoundCosts()
    for number in range(10):
        usual = replace(MEASURED, cost=(305 + number % 3) * 1e-6)
        assert not rule.compared_with_usual(costs, "w", usual).company
    for cost_us in (445, 280):
        odd = rule.compared_with_usual(costs, "w", replace(MEASURED, cost=cost_us * 1e-6))
        assert odd.company
        assert odd.doubtful
    assert not rule.compared_with_usual(costs, "w", replace(MEASURED, cost=310e-6)).company


def test_a_doubtful_timing_is_not_noted_as_round_cost() -> None:
    costs = RoundCosts()
    rule.compared_with_usual(costs, "w", replace(MEASURED, cost=305e-6, uneven=0.5))
    assert costs.costs == []


def test_the_usual_round_cost_is_subtracted() -> None:
    """The control's own rounds say 150 us, with an error of a third of a microsecond; twenty timings said 150.3 us."""
    usual = Usual([FIXED + 0.3e-6] * 20)
    measured = settle(own(2e-3 + FIXED), CONTROL, CONTROL, EXACT, usual)
    alone = settle(own(2e-3 + FIXED), CONTROL, CONTROL, EXACT)
    assert measured.cost == alone.fixed == pytest.approx(FIXED, abs=1e-12)
    assert measured.fixed == pytest.approx(FIXED + 0.3e-6, abs=0.03e-6)
    assert alone.time.value - measured.time.value == pytest.approx(measured.fixed - FIXED, rel=1e-3)
    assert measured.time.interval[1] - measured.time.value < alone.time.interval[1] - alone.time.value
