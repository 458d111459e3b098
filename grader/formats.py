"""Figures as people read them, the same on pages, at a terminal and in exported tables."""

from __future__ import annotations

# Of points; what is computed of them is exact, and so is JSON.
_POINT_DIGITS = 2


def duration(us: float) -> str:
    """Microseconds with three significant digits and a unit that fits: ``12.3 µs``, ``4.56 ms``, ``1.20 s``."""
    for unit, scale in (("µs", 1.0), ("ms", 1e3)):
        if us / scale < 999.5:
            return f"{three_digits(us / scale)} {unit}"
    return f"{three_digits(us / 1e6)} s"


def three_digits(value: float) -> str:
    """Three significant digits without an exponent, of a value of at least 0.1: ``1.31``, ``12.3``, ``1,234``."""
    places = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{places}f}"


def rounded_points(value: float) -> float:
    """Points as a number that people read: never -0."""
    return round(value, _POINT_DIGITS) + 0.0


def points(value: float) -> str:
    """Points of a course or competition: ``33.33``, ``100``."""
    return f"{rounded_points(value):.{_POINT_DIGITS}f}".rstrip("0").rstrip(".")
