from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.challenge import expression
from grader.challenge.expression import Expression, ExpressionError
from grader.errors import BadRequest
from grader.records.models import CurveRow
from grader.schemas.gradebook import AssignmentGrade, CategoryGrade
from grader.schemas.policy import Category, GradePolicy

# The default scale of categories.
_SCALE = 100.0
_NAMES = ("p", "most", "mean", "highest")


@dataclass(frozen=True)
class Curve:
    """With the class's values when it was applied."""

    formula: str
    mean: float
    highest: float

    @classmethod
    def of(cls, row: CurveRow) -> Curve:
        return cls(row.formula, row.mean, row.highest)

    def __call__(self, points: float, most: float) -> float:
        """At least 0; unchanged without a value: a later zero must not break the gradebook."""
        values = {"p": points, "most": most, "mean": self.mean, "highest": self.highest}
        try:
            found = expression.parse(self.formula)(values)
        except ExpressionError:
            return points
        return max(0.0, found) if math.isfinite(found) else points


def formula_of(text: str) -> Expression:
    """Raises BadRequest."""
    try:
        found = expression.parse(text.strip())
    except ExpressionError as error:
        raise BadRequest(
            f"The formula cannot be read: {error}.", "Write it like min(most, p * 1.1 + 5)."
        ) from error
    if unknown := sorted(found.names - set(_NAMES)):
        raise BadRequest(
            f"The formula names '{unknown[0][:40]}', which is not known.", f"It knows {', '.join(_NAMES)}."
        )
    return found


@dataclass(frozen=True)
class Rules:
    """``curves``: by assignment (an id)."""

    policy: GradePolicy = field(default_factory=GradePolicy)
    curves: Mapping[int | None, Curve] = field(default_factory=dict)

    def key(self) -> tuple[str, frozenset[tuple[int | None, Curve]]]:
        return self.policy.model_dump_json(), frozenset(self.curves.items())

    def most_by_staff(self, most: float) -> float | None:
        """The limit of an override; None: any number."""
        percent = self.policy.override_percent
        return None if percent is None else most * percent / 100


@dataclass(frozen=True)
class Scaled:
    """In its scale, and after its curve; ``most``: of both."""

    scaled: float
    counted: float
    most: float
    formula: str


def scaled(points: float, most: float, out_of: float | None, curve: Curve | None) -> Scaled:
    if out_of is not None and most > 0:
        points, most = points * out_of / most, out_of
    if curve is None:
        return Scaled(points, points, most, "")
    return Scaled(points, curve(points, most), most, curve.formula)


@dataclass(frozen=True)
class Total:
    """``left_out``: assignment -> reason."""

    points: float
    most: float
    categories: list[CategoryGrade]
    left_out: dict[str, str]


def total(policy: GradePolicy, found: Sequence[AssignmentGrade]) -> Total:
    """Before the curve of the total."""
    if policy.categories:
        return _of_categories(policy, found)
    left_out = dict.fromkeys(_lowest(found, policy.drop), "dropped: the fewest points")
    points, most = _sum(found, left_out)
    if policy.scale is not None:
        points, most = (points * policy.scale / most if most > 0 else 0.0), float(policy.scale)
    return Total(points, most, [], left_out)


def _of_categories(policy: GradePolicy, found: Sequence[AssignmentGrade]) -> Total:
    scale = float(policy.scale) if policy.scale is not None else _SCALE
    named = {category.name for category in policy.categories}
    left_out = {
        given.assignment: "in no category of the course" for given in found if given.category not in named
    }
    categories = [_category(category, found, left_out) for category in policy.categories]
    begun = [category for category in categories if category.share is not None]
    weight = sum(category.weight for category in begun)
    share = sum(category.weight * (category.share or 0.0) for category in begun) / weight if weight else 0.0
    return Total(share * scale, scale, categories, left_out)


def _category(
    category: Category, found: Sequence[AssignmentGrade], left_out: dict[str, str]
) -> CategoryGrade:
    """Adds to ``left_out``."""
    mine = [given for given in found if given.category == category.name]
    left_out |= dict.fromkeys(_lowest(mine, category.drop), f"dropped: the fewest points of {category.name}")
    points, most = _sum(mine, left_out)
    return CategoryGrade(
        name=category.name,
        weight=category.weight,
        points=points,
        most=most,
        share=points / most if most > 0 else None,
    )


def _sum(found: Sequence[AssignmentGrade], left_out: Mapping[str, str]) -> tuple[float, float]:
    kept = [given for given in found if given.assignment not in left_out]
    return sum(given.counted or 0.0 for given in kept), sum(given.counted_most or 0.0 for given in kept)


def _lowest(found: Sequence[AssignmentGrade], count: int) -> list[str]:
    """Lowest share of points, of equals the earlier; never all."""
    with_points = [given for given in found if given.counted_most]
    by_share = sorted(with_points, key=lambda given: (given.counted or 0.0) / (given.counted_most or 1.0))
    return [given.assignment for given in by_share[: min(count, max(0, len(with_points) - 1))]]
