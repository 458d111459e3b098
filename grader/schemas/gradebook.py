from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from grader import limits
from grader.schemas.strict import Strict


class PartProgress(StrEnum):
    """Nothing submitted, nothing accepted yet, or accepted."""

    NOT_STARTED = "not_started"
    STUCK = "stuck"
    DONE = "done"


class GradeLine(Strict):
    """The points of all lines add up to the part's."""

    text: str
    points: float
    most: float | None = None


class PartGrade(Strict):
    """For one challenge of an assignment."""

    challenge: str
    points: float
    most: float
    progress: PartProgress
    rubric: float = Field(default=0.0, description="the part of the points that staff gave by the rubric")
    ungraded: float = Field(default=0.0, description="the part of `most` in criteria that nobody graded yet")
    attempts: int = Field(description="submissions judged while the assignment was open")
    voided: int = Field(default=0, description="submissions voided by staff")
    submission: str | None = Field(default=None, description="the one that counts")
    judged_again: str | None = Field(
        default=None, description="the later judgement that counts, if staff had it judged again"
    )
    received_at: datetime | None = None
    late_days: int = 0
    grace_days: int = 0
    verdict: str | None = None
    speedup: float | None = None
    device: str | None = None
    overridden: bool = False
    reason: str = Field(default="", description="of the override")
    lines: list[GradeLine] = Field(
        default_factory=list, description="only in the answer for a single student"
    )


class AssignmentGrade(Strict):
    assignment: str
    title: str
    due_at: datetime
    closes_at: datetime
    points: float
    most: float
    grace_days: int
    parts: list[PartGrade]
    category: str = ""
    worth: float | None = Field(
        default=None, description="the points, out of `counted_most`, before the curve"
    )
    formula: str = Field(default="", description="the curve that was applied to them; empty: none")
    counted: float | None = Field(
        default=None, description="what counts, out of `counted_most`: `worth` after the curve"
    )
    counted_most: float | None = None
    left_out: str = Field(default="", description="why it does not count for the total; empty if it does")


class CategoryGrade(Strict):
    """Without dropped points."""

    name: str
    weight: float
    points: float
    most: float
    share: float | None = Field(description="null: no assignment of it is published")


class StudentGrades(Strict):
    """``points`` and ``most`` are sums of all parts; ``total`` follows the course's policy."""

    id: int = Field(description="the account's number, which survives a change of its name")
    name: str
    full_name: str
    student_number: str
    section: str
    group: str
    points: float
    most: float
    grace_left: int
    assignments: list[AssignmentGrade]
    categories: list[CategoryGrade] = Field(default_factory=list)
    uncurved: float | None = Field(default=None, description="the total before its curve")
    formula: str = Field(default="", description="the curve of the total; empty: none")
    total: float | None = None
    total_most: float | None = None


class PartStatistics(Strict):
    assignment: str
    challenge: str
    title: str
    not_started: int
    stuck: int
    done: int
    mean_points: float | None
    most: float
    speedups: list[float] = Field(description="best of each student who solved it, in order")


class AtRisk(Strict):
    """A student who may need help, and why."""

    id: int
    name: str
    full_name: str
    section: str
    reasons: list[str]


class Gradebook(Strict):
    course: str
    name: str
    students: list[StudentGrades]
    statistics: list[PartStatistics]
    at_risk: list[AtRisk]
    broken: list[str] = Field(
        default_factory=list,
        description="challenges whose folder cannot be read: their points are missing until it is repaired",
    )


class OverrideBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/overrides."""

    student: str = Field(max_length=limits.NAME_CHARS)
    challenge: str = Field(max_length=limits.SLUG_CHARS)
    points: StrictFloat | StrictInt | None = Field(
        ge=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="replace the computed points; null removes the override",
    )
    reason: str = Field(min_length=1, max_length=limits.REASON_CHARS)
    seen: StrictFloat | StrictInt | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="the override that was read, null if there was none: nothing changes if it is another by now; "
        "omit it to skip this check",
    )
    extra: StrictBool = Field(default=False, description="allows more points than the part has")


class ExportRow(Strict):
    """One student's points for one part."""

    course: str
    assignment: str
    challenge: str
    student_id: int = Field(description="the account's number; never changes")
    student: str
    full_name: str
    student_number: str
    section: str
    group: str
    points: float
    most: float
    progress: PartProgress
    attempts: int
    verdict: str | None
    speedup: float | None
    device: str | None
    submission: str | None = Field(description="id of the submission that counts; never changes")
    judged_again: str | None = Field(description="the later judgement of it that counts")
    received_at: datetime | None
    late_days: int
    grace_days: int
    overridden: bool
    reason: str
    voided: int
    rubric: float = Field(description="the part of the points that staff gave by the rubric")
    ungraded: float = Field(description="the part of `most` in criteria that nobody graded yet")
    category: str = ""
    assignment_counted: float | None = Field(
        default=None, description="what counts of the whole assignment, scaled and curved"
    )
    assignment_most: float | None = None
    left_out: str = Field(default="", description="why the assignment does not count for the total")
    total: float | None = Field(default=None, description="of the course, by its policy")
    total_most: float | None = None


# Tables for people show these rounded.
POINT_COLUMNS = (
    *("points", "most", "rubric", "ungraded"),
    *("assignment_counted", "assignment_most", "total", "total_most"),
)


class GradebookExport(Strict):
    rows: list[ExportRow]
