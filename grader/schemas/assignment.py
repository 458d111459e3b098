"""Assignments, their times and what is left of their limits, as API, pages and command line see them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from grader import limits
from grader.deadlines import Phase
from grader.languages import Language
from grader.schemas.course import CourseSlug, Revision
from grader.schemas.strict import Strict

_TIME = "in the course's time zone, or with an offset; a day alone is its {}"


class Counts(StrEnum):
    """Which submission for a challenge counts: the one with the most points, or the last."""

    BEST = "best"
    LAST = "last"


class PartBody(Strict):
    challenge: str = Field(max_length=limits.SLUG_CHARS)
    weight: StrictFloat | StrictInt = Field(
        default=1.0, gt=0, le=1000, description="the challenge's points are multiplied by it"
    )


class AttemptLimits(Strict):
    """For each challenge of the assignment while it is open; none: as many as the platform allows. ``day`` is one of
    the course's time zone."""

    day: StrictInt | None = Field(default=None, ge=1, le=1000)
    total: StrictInt | None = Field(default=None, ge=1, le=10_000)
    pending: StrictInt | None = Field(default=None, ge=1, le=1000, description="that wait or run at once")


class AssignmentBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>: all of it. A new one is a draft."""

    title: str = Field(min_length=1, max_length=limits.TITLE_CHARS)
    parts: list[PartBody] = Field(min_length=1, max_length=50)
    open_at: str = Field(max_length=40, description=_TIME.format("beginning"))
    due_at: str = Field(max_length=40, description=_TIME.format("end"))
    late_until: str | None = Field(
        default=None, max_length=40, description="none: nothing counts after `due_at`"
    )
    late_percent: StrictFloat | StrictInt = Field(
        default=0.0, ge=0, le=100, description="of the points, for each day begun after `due_at`"
    )
    grace_days: StrictInt = Field(
        default=0, ge=0, le=365, description="late days here that a student's own grace days may pay"
    )
    attempts: AttemptLimits = AttemptLimits()
    languages: list[Language] = Field(default_factory=list, description="empty: all that a challenge takes")
    devices: list[str] = Field(default_factory=list, max_length=50, description="empty: all that are served")
    counts: Counts = Counts.BEST
    reveal_hidden: StrictBool = Field(
        default=False,
        description="students read their hidden cases once nobody can submit for points any more",
    )
    revision: Revision = None


class PublishAssignmentBody(Strict):
    """Body of POST /api/v1/courses/<course>/assignments/<assignment>/publish."""

    published: StrictBool = True


class PartView(Strict):
    challenge: str
    title: str
    weight: float
    points: float | None = Field(description="the most that it can give; none while its folder is broken")


class AttemptsLeft(Strict):
    """What a student has left for one challenge now; none: no limit of the assignment."""

    challenge: str
    day: int | None
    total: int | None
    pending: int | None


class AssignmentView(Strict):
    """``due_at`` and ``late_until`` are those that hold for who asks: with an extension, the extended ones."""

    course: str
    slug: str
    title: str
    parts: list[PartView]
    open_at: datetime
    due_at: datetime
    late_until: datetime | None
    extended: bool = False
    time_zone: str
    phase: Phase
    late_percent: float
    grace_days: int
    attempts: AttemptLimits
    left: list[AttemptsLeft] = Field(
        default_factory=list, description="of a student who asks, while it is open"
    )
    languages: list[Language]
    devices: list[str]
    counts: Counts
    reveal_hidden: bool
    published_at: datetime | None = Field(description="none: a draft, which students do not see")
    revision: int


class AssignmentList(Strict):
    course: str
    assignments: list[AssignmentView]


class ExtensionBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/extensions: for one student or one section, also
    after the deadline. What was handed in meanwhile counts as if it had always been so."""

    student: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    section: str | None = Field(default=None, min_length=1, max_length=limits.NAME_CHARS)
    due_at: str = Field(max_length=40, description=_TIME.format("end"))
    late_until: str | None = Field(default=None, max_length=40)
    reason: str = Field(default="", max_length=limits.REASON_CHARS)


class ExtensionView(Strict):
    id: int
    student: str | None
    section: str | None
    due_at: datetime
    late_until: datetime | None
    reason: str
    made_by: str | None
    created_at: datetime


class ExtensionList(Strict):
    assignment: str
    extensions: list[ExtensionView]


class AssignmentPath(Strict):
    course: CourseSlug
    assignment: CourseSlug
