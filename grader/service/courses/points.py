"""Points for correctness and speedups, less a share for lateness. Speedups use the frozen baseline of the version and
GPU model, not the judging machine's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.schemas.report import CaseGroup


@dataclass(frozen=True)
class Tier:
    speedup: float
    points: float


@dataclass(frozen=True)
class Scheme:
    """``weight`` multiplies all."""

    correctness: float
    tiers: Sequence[Tier]
    weight: float = 1.0

    @property
    def most(self) -> float:
        return self.weight * (self.correctness + sum(tier.points for tier in self.tiers))

    def earned(
        self, accepted: bool, speedup: float | None, resolution: float, credit: float | None = None
    ) -> float:
        """Before lateness. Tiers are reached within ``resolution`` (a share of the time). ``credit``: share of
        correctness points if not accepted."""
        if not accepted:
            return self.weight * self.correctness * (credit or 0.0)
        reached = 0.0 if speedup is None else speedup * (1 + resolution)
        return self.weight * (
            self.correctness + sum(tier.points for tier in self.tiers if reached >= tier.speedup)
        )


@dataclass(frozen=True)
class Line:
    """``points`` add up to the grade; deductions have no ``most``."""

    text: str
    points: float
    most: float | None = None


@dataclass(frozen=True)
class Criterion:
    """``points`` None: not graded yet."""

    title: str
    most: float
    points: float | None = None
    reason: str = ""


def by_rubric(criteria: Sequence[Criterion]) -> list[Line]:
    return [
        Line(f"{criterion.title}: not graded yet", 0.0, criterion.most)
        if criterion.points is None
        else Line(
            f"{criterion.title}: {criterion.reason}" if criterion.reason else criterion.title,
            criterion.points,
            criterion.most,
        )
        for criterion in criteria
    ]


def explain(
    scheme: Scheme,
    accepted: bool,
    speedup: float | None,
    resolution: float,
    groups: Sequence[CaseGroup] = (),
) -> list[Line]:
    """``groups``: of the report, if they count."""
    weight = scheme.weight
    right = "every case is right" if accepted else "not every case is right"
    most = weight * scheme.correctness
    lines = _by_groups(groups, most) or [Line(f"Correctness: {right}", most * accepted, most)]
    for tier in sorted(scheme.tiers, key=lambda tier: tier.speedup):
        most = weight * tier.points
        if not accepted:
            lines.append(Line(f"Speedup {tier.speedup:g}: counts once every case is right", 0.0, most))
        elif speedup is None:
            lines.append(
                Line(f"Speedup {tier.speedup:g}: the time is unknown, and so is the speedup", 0.0, most)
            )
        elif speedup * (1 + resolution) < tier.speedup:
            lines.append(Line(f"Speedup {tier.speedup:g}: not reached with {speedup:.3g}", 0.0, most))
        else:
            near = (
                f", within the measurement error of {100 * resolution:g} %" if speedup < tier.speedup else ""
            )
            lines.append(Line(f"Speedup {tier.speedup:g}: reached with {speedup:.3g}{near}", most, most))
    return lines


def _by_groups(groups: Sequence[CaseGroup], most: float) -> list[Line]:
    """``most``: today's correctness points, perhaps not those at judging."""
    whole = sum(group.most for group in groups)
    return [
        Line(
            f"Correctness, {group.name}: {group.sentence}",
            most * group.points / whole,
            most * group.most / whole,
        )
        for group in groups
    ]


def for_questions(most: float, asked: tuple[int, int]) -> float:
    """``asked``: right answers and questions."""
    right, questions = asked
    return most * right / questions if questions else 0.0


def questions(most: float, accepted: bool, asked: tuple[int, int] | None) -> Line:
    if not accepted:
        return Line("Questions on the kernel: they come once every case is right", 0.0, most)
    if asked is None:
        text = "Questions on the kernel: this submission has none; they come with the emulated board"
        return Line(text, 0.0, most)
    right, count = asked
    return Line(f"Questions on the kernel: {right} of {count} right", for_questions(most, asked), most)


def kept_share(late_days: int, grace_days: int, percent: float) -> float:
    """``grace_days`` of ``late_days`` are free."""
    return max(0.0, 1 - max(0, late_days - grace_days) * percent / 100)


def lateness(points: float, late_days: int, grace_days: int, percent: float) -> Line | None:
    """None if it was on time."""
    if late_days == 0:
        return None
    days = "1 day late" if late_days == 1 else f"{late_days} days late"
    used = min(late_days, grace_days)
    paid = "" if used == 0 else ", 1 grace day" if used == 1 else f", {used} grace days"
    share = kept_share(late_days, grace_days, percent)
    return Line(f"{days}{paid}: {100 * (1 - share):.3g} % less", points * (share - 1) + 0.0)
