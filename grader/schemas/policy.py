"""How a course makes final grades of points."""

from __future__ import annotations

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from grader import limits
from grader.schemas.strict import Strict

FORMULA_CHARS = 200


class Category(Strict):
    """Assignments that weigh together in the total."""

    name: str = Field(min_length=1, max_length=limits.NAME_CHARS)
    weight: StrictFloat | StrictInt = Field(
        gt=0, le=1000, allow_inf_nan=False, description="relative to the other categories' weights"
    )
    drop: StrictInt = Field(
        default=0, ge=0, le=50, description="how many assignments with the lowest share do not count"
    )


class GradePolicy(Strict):
    """With categories, the total is the weighted mean of their shares, times ``scale``; an assignment in none
    of them does not count. Without, the points are added up.
    """

    categories: list[Category] = Field(default_factory=list, max_length=20)
    drop: StrictInt = Field(default=0, ge=0, le=50, description="as a category's, if there are none")
    scale: StrictFloat | StrictInt | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="what the whole course is worth; null: the sum of the points, with categories 100",
    )
    override_percent: StrictFloat | StrictInt | None = Field(
        default=None,
        ge=0,
        le=1000,
        allow_inf_nan=False,
        description="the most that points by staff may reach, of a challenge's; null: no limit",
    )


def policy_of(stored: str) -> GradePolicy:
    return GradePolicy.model_validate_json(stored) if stored else GradePolicy()


class CurveBody(Strict):
    """Body of PUT /api/v1/courses/<course>/curve: a formula for the points of an assignment, or of the whole
    course. Without ``apply`` nothing changes: the answer shows the effect.
    """

    assignment: str | None = Field(
        default=None, max_length=limits.SLUG_CHARS, description="null: the course's total"
    )
    formula: str | None = Field(
        max_length=FORMULA_CHARS,
        description="of `p` (a student's points), `most` (what they are out of), `mean` and `highest` (the class's), "
        "such as `min(most, p * 1.1 + 5)`; null takes the curve back",
    )
    apply: StrictBool = False


class CurvedStudent(Strict):
    id: int
    name: str
    full_name: str
    before: float
    after: float


class CurvePreview(Strict):
    """Every student's points without the curve and with it."""

    course: str
    assignment: str | None
    title: str
    formula: str | None
    applied: StrictBool
    most: float
    mean: float
    highest: float
    students: list[CurvedStudent] = Field(description="the fewest points first")
    lowered: int = Field(description="students who would have fewer points")
    swapped: int = Field(
        description="students who would fall behind somebody who had fewer points than they had"
    )
