"""The rule that turns gate times and windows into a time per call: on made-up rounds, so that it is exact."""

from __future__ import annotations

import pytest

from grader.judge.device import Noise
from grader.judge.remote import Timed
from grader.judge.timing import Own, settle

CONTROL_S = 1e-3
FIXED = 150e-6


def rounds(gate: float, outside: float, count: int = 15) -> list[Timed]:
    """``count`` rounds with a little deterministic jitter around ``gate`` and ``outside`` (seconds)."""
    jitter = [(number % 5 - 2) * 1e-6 for number in range(count)]
    return [Timed(before=outside / 2 + it, gate=gate + it, after=outside / 2, host=1e-5) for it in jitter]


def own(gate: float, outside: float) -> Own:
    return Own(rounds(gate, outside), gated=True)


CONTROL = [(it, CONTROL_S) for it in rounds(CONTROL_S + FIXED, outside=4e-3)]
NOISE = Noise(outside=0.05, least=0.5e-3, most=1.0)
EXACT = Noise(outside=0.0, least=1e-6, most=0.01)


def test_an_honest_call_loses_only_the_fixed_cost() -> None:
    measured = settle(own(20e-3 + FIXED, outside=4e-3), CONTROL, CONTROL, NOISE)
    assert measured.time.value == pytest.approx(20e-3, rel=1e-6)
    assert measured.charged == 0.0


@pytest.mark.parametrize("hidden", [5e-3, 15e-3, 20e-3])
def test_work_outside_the_gate_is_charged_in_full(hidden: float) -> None:
    """Moving ``hidden`` seconds before or after the gate shortens G and lengthens S - G by as much."""
    measured = settle(own(20e-3 + FIXED - hidden, outside=4e-3 + hidden), CONTROL, CONTROL, NOISE)
    assert measured.charged == pytest.approx(hidden, rel=1e-6)
    assert measured.time.value == pytest.approx(20e-3, rel=1e-3)


def test_noise_in_the_window_is_not_charged() -> None:
    measured = settle(own(20e-3 + FIXED, outside=4e-3 + 0.2e-3), CONTROL, CONTROL, NOISE)
    assert measured.charged == 0.0


@pytest.mark.parametrize("share", [1.1, 1.5, 1.9])
def test_of_what_is_hardly_beyond_noise_only_the_rest_is_charged(share: float) -> None:
    excess = share * NOISE.least
    measured = settle(own(20e-3 + FIXED, outside=4e-3 + excess), CONTROL, CONTROL, NOISE)
    assert measured.charged == pytest.approx(excess - NOISE.least, rel=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.99, 1.01, 1.5, 1.99, 2.01, 10.0])
def test_hidden_work_gains_no_more_than_the_noise(share: float) -> None:
    hidden = share * NOISE.least
    measured = settle(own(20e-3 + FIXED - hidden, outside=4e-3 + hidden), CONTROL, CONTROL, NOISE)
    assert 20e-3 - measured.time.value <= NOISE.least + 1e-9


def test_being_quick_after_the_gate_makes_up_for_nothing_before_it() -> None:
    early = [
        Timed(before=it.before + 5e-3, gate=it.gate - 5e-3, after=0.0, host=0.0)
        for it in rounds(20e-3 + FIXED, 8e-3)
    ]
    control = [(it, CONTROL_S) for it in rounds(CONTROL_S + FIXED, outside=8e-3)]
    measured = settle(Own(early, gated=True), control, control, NOISE)
    assert measured.charged == pytest.approx(5e-3, rel=1e-6)


def test_the_interval_holds_what_the_fixed_cost_differs_by() -> None:
    def width(spread: float) -> float:
        control = [
            (Timed(before=2e-3, gate=CONTROL_S + FIXED + it, after=2e-3, host=0.0), CONTROL_S)
            for it in (-spread, -spread, 0.0, spread, spread)
        ]
        low, high = settle(own(20e-3 + FIXED, outside=4e-3), control, control, NOISE).time.interval
        return high - low

    assert width(2e-3) > 2 * width(0.0)


def test_a_control_that_drifted_makes_e_less_certain() -> None:
    later = [(it, CONTROL_S) for it in rounds(CONTROL_S + FIXED, outside=4.1e-3)]
    assert settle(own(20e-3 + FIXED, outside=4.1e-3), CONTROL, later, EXACT).charged == 0.0
    assert settle(own(20e-3 + FIXED, outside=4.1e-3), CONTROL, CONTROL, EXACT).charged > 0.0


def test_drift_and_uneven_rounds_hide_no_more_than_a_share_of_the_time() -> None:
    """A submission may have brought it about: by heating the GPU, say."""
    much_later = [(it, CONTROL_S) for it in rounds(CONTROL_S + FIXED, outside=40e-3)]
    measured = settle(own(20e-3 + FIXED, outside=40e-3), CONTROL, much_later, EXACT)
    assert measured.noise == pytest.approx(EXACT.most * 20e-3, rel=1e-3)
    assert measured.charged > 0.0


def test_a_window_shorter_than_the_controls_earns_nothing() -> None:
    measured = settle(own(20e-3 + FIXED, outside=1e-3), CONTROL, CONTROL, NOISE)
    assert measured.time.value == pytest.approx(20e-3, rel=1e-6)


def test_a_call_that_does_nothing_has_a_positive_time() -> None:
    measured = settle(own(FIXED / 2, outside=4e-3), CONTROL, CONTROL, NOISE)
    assert measured.time.value > 0
    assert measured.time.interval[0] > 0
