"""Numbers, times and sizes as people read them."""

from __future__ import annotations

import re
from collections.abc import Mapping

# For display; calculations and JSON keep the exact value.
_POINT_DIGITS = 2
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smh]?)")
_SPAN_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(text: str) -> float | None:
    """Of ``90``, ``90s``, ``55m`` or ``2h``."""
    found = _SPAN.fullmatch(text.strip())
    return None if found is None else float(found[1]) * _SPAN_UNITS[found[2]]


def duration(us: float) -> str:
    """``12.3 µs``, ``4.56 ms``."""
    for unit, scale in (("µs", 1.0), ("ms", 1e3)):
        if us / scale < 999.5:
            return f"{three_digits(us / scale)} {unit}"
    return f"{three_digits(us / 1e6)} s"


def wait(seconds: float) -> str:
    """``8 s``, ``2 min``, ``1 h 5 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours == 0 or (hours == 1 and minutes < 30):
        return f"{60 * hours + minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size_text(count: int) -> str:
    """``45 KiB``, ``1.2 MiB``, ``4 GiB``."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20)):
        if count >= scale:
            return f"{count / scale:.1f}".removesuffix(".0") + f" {unit}"
    return f"{count / 2**10:.0f} KiB"


def sizes(values: Mapping[str, int]) -> str:
    """``m = 3, n = 1,024``."""
    return ", ".join(f"{name} = {value:,}" for name, value in values.items())


def three_digits(value: float) -> str:
    """From 0.1 up: ``1.31``, ``12.3``, ``1,234``."""
    places = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{places}f}"


def in_units(number: float, unit: str) -> str:
    """``17 ulps``, ``1 step``."""
    text = f"{number:,.0f}" if number == int(number) and number < 1e6 else f"{number:.3g}"
    return f"{text} {unit.removesuffix('s') if text == '1' else unit}"


def rounded_points(value: float) -> float:
    """Never -0."""
    return round(value, _POINT_DIGITS) + 0.0


def points(value: float) -> str:
    """``33.33``, ``100``."""
    return f"{rounded_points(value):.{_POINT_DIGITS}f}".rstrip("0").rstrip(".")
