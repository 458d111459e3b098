from __future__ import annotations

import pytest

from grader.service.courses.points import Scheme, Tier, explain, kept_share, lateness

SCHEME = Scheme(60, [Tier(2.0, 15), Tier(0.5, 25)], weight=2)


@pytest.mark.parametrize(
    ("accepted", "speedup", "resolution", "points"),
    [
        (False, None, 0.0, 0),
        (False, 9.0, 0.0, 0),
        (True, None, 0.0, 120),
        (True, 0.4, 0.0, 120),
        (True, 0.5, 0.0, 170),
        (True, 1.99, 0.0, 170),
        (True, 1.99, 0.01, 200),
        (True, 2.0, 0.0, 200),
    ],
)
def test_points_are_explained_by_lines(
    accepted: bool, speedup: float | None, resolution: float, points: float
) -> None:
    assert SCHEME.earned(accepted, speedup, resolution) == points
    lines = explain(SCHEME, accepted, speedup, resolution)
    assert sum(line.points for line in lines) == points
    assert sum(line.most or 0 for line in lines) == SCHEME.most == 200


def test_an_explanation_names_each_step() -> None:
    assert [(line.text, line.points) for line in explain(SCHEME, True, 1.99, 0.01)] == [
        ("Correctness: every case is right", 120),
        ("Speedup 0.5: reached with 1.99", 50),
        ("Speedup 2: reached with 1.99, within the measurement error of 1 %", 30),
    ]
    assert "not reached with 1.5" in explain(SCHEME, True, 1.5, 0.01)[2].text
    assert "the time is unknown" in explain(SCHEME, True, None, 0)[1].text


@pytest.mark.parametrize(
    ("late", "grace", "percent", "share"),
    [
        (0, 0, 10, 1),
        (1, 0, 10, 0.9),
        (3, 0, 10, 0.7),
        (3, 2, 10, 0.9),
        (3, 9, 10, 1),
        (11, 0, 10, 0),
        (5, 0, 0, 1),
    ],
)
def test_late_days_reduce_the_share(late: int, grace: int, percent: float, share: float) -> None:
    assert kept_share(late, grace, percent) == pytest.approx(share)
    line = lateness(80, late, grace, percent)
    assert (line.points if line else 0.0) == pytest.approx(80 * (share - 1))


def test_lateness_is_explained_by_a_line() -> None:
    assert lateness(80, 0, 0, 10) is None
    line = lateness(80, 3, 2, 10)
    assert line is not None
    assert line.text == "3 days late, 2 grace days: 10 % less"
