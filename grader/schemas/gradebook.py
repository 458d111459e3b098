"""Grades, as API, pages and command line see them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from grader import limits
from grader.schemas.strict import Strict


class PartProgress(StrEnum):
    """How far a student is with a part while it counts: nothing submitted, nothing right yet, or right."""

    NOT_STARTED = "not_started"
    STUCK = "stuck"
    DONE = "done"


class GradeLine(Strict):
    """A line of the explanation. The points of all lines add up to those of the part."""

    text: str
    points: float
    most: float | None = None


class PartGrade(Strict):
    """The points of a student for one challenge of an assignment. ``submission`` is the one that counts;
    ``judged_again`` holds its judgement where staff had it judged again, which counts then."""

    challenge: str
    points: float
    most: float
    progress: PartProgress
    rubric: float = Field(default=0.0, description="of the points: those that staff gave by the rubric")
    ungraded: float = Field(default=0.0, description="of what is to be had: criteria that nobody graded yet")
    attempts: int = Field(description="submissions that were judged while the assignment was open")
    voided: int = Field(default=0, description="how many of them staff voided")
    submission: str | None = None
    judged_again: str | None = None
    received_at: datetime | None = None
    late_days: int = 0
    grace_days: int = 0
    verdict: str | None = None
    speedup: float | None = None
    device: str | None = None
    overridden: bool = False
    reason: str = Field(default="", description="of the override")
    lines: list[GradeLine] = Field(default_factory=list, description="only where one student is asked for")


class AssignmentGrade(Strict):
    assignment: str
    title: str
    due_at: datetime
    closes_at: datetime
    points: float
    most: float
    grace_days: int
    parts: list[PartGrade]


class StudentGrades(Strict):
    """``id`` is the account's number, which stays the same when its name changes."""

    id: int
    name: str
    full_name: str
    student_number: str
    section: str
    group: str
    points: float
    most: float
    grace_left: int
    assignments: list[AssignmentGrade]


class PartStatistics(Strict):
    """``speedups`` are the best of each student who has it right, in order."""

    assignment: str
    challenge: str
    title: str
    not_started: int
    stuck: int
    done: int
    mean_points: float | None
    most: float
    speedups: list[float]


class AtRisk(Strict):
    """Somebody who may need help, and why."""

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
        description="challenges whose folder cannot be read: their points are missing until it is mended",
    )


class OverrideBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/overrides: points in place of the computed ones;
    ``points`` none takes an override away. ``seen``, where it is sent, is the override that one read (none: there was
    none): where there is another by now, nothing is done. More points than the part has are refused without
    ``extra``."""

    student: str = Field(max_length=limits.NAME_CHARS)
    challenge: str = Field(max_length=limits.SLUG_CHARS)
    points: StrictFloat | StrictInt | None = Field(ge=0, le=1_000_000, allow_inf_nan=False)
    reason: str = Field(min_length=1, max_length=limits.REASON_CHARS)
    seen: StrictFloat | StrictInt | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    extra: StrictBool = Field(default=False, description="the points may be more than the part has")


class ExportRow(Strict):
    """One student and part. ``student_id`` is the account's number and ``submission`` the id of what was submitted:
    both stay the same for ever. ``judged_again`` is the later judgement of the same submission that counts for it."""

    course: str
    assignment: str
    challenge: str
    student_id: int
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
    submission: str | None
    judged_again: str | None
    received_at: datetime | None
    late_days: int
    grace_days: int
    overridden: bool
    reason: str
    voided: int
    rubric: float = Field(description="of the points: those that staff gave by the rubric")
    ungraded: float = Field(description="of what is to be had: criteria that nobody graded yet")


# The columns of an ExportRow that are points: a table for people has them rounded.
POINT_COLUMNS = ("points", "most", "rubric", "ungraded")


class GradebookExport(Strict):
    rows: list[ExportRow]
