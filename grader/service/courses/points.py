"""Points of a submission: those for being right, those for each speedup that it reaches, and what lateness costs.

Speedups are those that the judge found: against the baseline that is frozen for the challenge's version on that model
of GPU, so nobody's points depend on the machine that happened to judge them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Tier:
    speedup: float
    points: float


@dataclass(frozen=True)
class Scheme:
    """What a challenge's ``[grading]`` gives. ``weight`` multiplies all of it."""

    correctness: float
    tiers: Sequence[Tier]
    weight: float = 1.0

    @property
    def most(self) -> float:
        return self.weight * (self.correctness + sum(tier.points for tier in self.tiers))

    def earned(self, accepted: bool, speedup: float | None, resolution: float) -> float:
        """Points before lateness. A speedup that the board cannot tell from a tier's reaches it: ``resolution`` is a
        share of the time."""
        if not accepted:
            return 0.0
        reached = 0.0 if speedup is None else speedup * (1 + resolution)
        return self.weight * (self.correctness + sum(it.points for it in self.tiers if reached >= it.speedup))


@dataclass(frozen=True)
class Line:
    """One line of the explanation: its ``points`` add up to the whole; ``most`` is none where it only takes away."""

    text: str
    points: float
    most: float | None = None


@dataclass(frozen=True)
class Criterion:
    """Of a rubric; ``points`` None: nobody graded it yet."""

    title: str
    most: float
    points: float | None = None
    reason: str = ""


def by_rubric(criteria: Sequence[Criterion]) -> list[Line]:
    """A line for each criterion."""
    return [
        Line(f"{it.title}: not graded yet", 0.0, it.most)
        if it.points is None
        else Line(f"{it.title}: {it.reason}" if it.reason else it.title, it.points, it.most)
        for it in criteria
    ]


def explain(scheme: Scheme, accepted: bool, speedup: float | None, resolution: float) -> list[Line]:
    """How ``earned`` came about."""
    weight = scheme.weight
    right = "every case is right" if accepted else "not every case is right"
    lines = [
        Line(f"Correctness: {right}", weight * scheme.correctness * accepted, weight * scheme.correctness)
    ]
    for tier in sorted(scheme.tiers, key=lambda it: it.speedup):
        most = weight * tier.points
        if not accepted:
            lines.append(Line(f"Speedup {tier.speedup:g}: counts once it is right", 0.0, most))
        elif speedup is None:
            lines.append(
                Line(f"Speedup {tier.speedup:g}: the time is not known, so no speedup is", 0.0, most)
            )
        elif speedup * (1 + resolution) < tier.speedup:
            lines.append(Line(f"Speedup {tier.speedup:g}: not reached with {speedup:.3g}", 0.0, most))
        else:
            near = (
                f", as near as the board can tell ({100 * resolution:g} %)" if speedup < tier.speedup else ""
            )
            lines.append(Line(f"Speedup {tier.speedup:g}: reached with {speedup:.3g}{near}", most, most))
    return lines


def kept_share(late_days: int, grace_days: int, percent: float) -> float:
    """The share of the points that is left after so many days, ``grace_days`` of which cost nothing."""
    return max(0.0, 1 - max(0, late_days - grace_days) * percent / 100)


def lateness(points: float, late_days: int, grace_days: int, percent: float) -> Line | None:
    """What lateness takes of ``points``; None where it was handed in in time."""
    if late_days == 0:
        return None
    days = "1 day late" if late_days == 1 else f"{late_days} days late"
    used = min(late_days, grace_days)
    paid = "" if used == 0 else ", 1 grace day" if used == 1 else f", {used} grace days"
    share = kept_share(late_days, grace_days, percent)
    return Line(f"{days}{paid}: {100 * (1 - share):.3g} % less", points * (share - 1) + 0.0)
