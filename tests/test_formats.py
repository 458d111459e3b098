"""Figures as people read them: pages and commands have the same."""

from __future__ import annotations

import pytest

from grader import formats


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0.0, "0.00 µs"),
        (0.5, "0.50 µs"),
        (9.994, "9.99 µs"),
        (9.996, "10.0 µs"),
        (12.34, "12.3 µs"),
        (99.96, "100 µs"),
        (999.4, "999 µs"),
        (999.6, "1.00 ms"),
        (123_456.0, "123 ms"),
        (999_900.0, "1.00 s"),
        (120e6, "120 s"),
        (1234e6, "1,234 s"),
    ],
)
def test_times_have_three_digits_and_a_unit(us: float, text: str) -> None:
    assert formats.duration(us) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (21.4, "21 s"),
        (89.6, "90 s"),
        (90.0, "2 min"),
        (130.0, "2 min"),
        (89 * 60.0, "89 min"),
        (90 * 60.0, "1 h 30 min"),
        (10_800.0, "3 h"),
    ],
)
def test_waits_are_in_seconds_minutes_or_hours(seconds: float, text: str) -> None:
    assert formats.wait(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 KiB"),
        (46_080, "45 KiB"),
        (2**20, "1 MiB"),
        (1_258_291, "1.2 MiB"),
        (1023 * 2**20, "1023 MiB"),
        (4 * 2**30, "4 GiB"),
    ],
)
def test_sizes_in_bytes_have_one_place_at_most(count: int, text: str) -> None:
    assert formats.size_text(count) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (100 / 3, "33.33"),
        (100.0, "100"),
        (0.5, "0.5"),
        (12345.678, "12345.68"),
        (1_000_000.0, "1000000"),
        (-10 / 3, "-3.33"),
        (-0.001, "0"),
    ],
)
def test_points_have_two_places_at_most(value: float, text: str) -> None:
    assert formats.points(value) == text
