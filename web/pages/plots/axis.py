"""Axes: where on them a value lies, and ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Labels of more ticks run into each other on a phone.
_TICKS_MOST = 6
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """``place``: percent along the axis."""

    place: float
    label: str


@dataclass(frozen=True)
class Axis:
    """From ``low`` to ``high``; ``log``: in equal factors."""

    low: float
    high: float
    ticks: list[Tick]
    log: bool = False

    def at(self, value: float) -> float:
        """Percent along the axis, 0 to 100; what lies outside is put at its end."""
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(min(max(share, 0.0), 1.0) * 100, 2)

    def up(self, value: float) -> float:
        """The same of an axis that points up, where percent count down from the top."""
        return round(100 - self.at(value), 2)


def linear(highest: float, label: Callable[[float], str], most: int = _TICKS_MOST) -> Axis:
    """From 0 to a round number at or above ``highest`` (positive), with at most ``most`` ticks."""
    raw = highest / (most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(it * power for it in _STEPS if it * power >= raw * (1 - 1e-9))
    count = math.ceil(highest / step - 1e-9)
    end = step * count
    return Axis(0.0, end, [Tick(round(i / count * 100, 2), label(i * step)) for i in range(count + 1)])


def logarithmic(values: Sequence[float], label: Callable[[float], str], most: int = _TICKS_MOST) -> Axis:
    """From the power of ten below the least of ``values`` (all positive) to the one above the largest; at least one
    decade. Ticks are at powers of ten, at most ``most``."""
    first = math.floor(math.log10(min(values)) + 1e-9)
    last = math.ceil(math.log10(max(values)) - 1e-9)
    last = max(last, first + 1)
    every = math.ceil((last - first) / (most - 1))
    powers = range(first, last + 1, every)
    ticks = [Tick(round((power - first) / (last - first) * 100, 2), label(10.0**power)) for power in powers]
    return Axis(10.0**first, 10.0**last, ticks, log=True)
