from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from grader import limits
from grader.deadlines import WindowPhase
from grader.languages import Language
from grader.schemas.course import CourseSlug, Revision
from grader.schemas.strict import Strict

_TIME = "in the course's time zone, or with an offset; a day alone means its {}"


class Counts(StrEnum):
    """The submission that counts: the one with the most points, or the last."""

    BEST = "best"
    LAST = "last"


class PartBody(Strict):
    challenge: str = Field(max_length=limits.SLUG_CHARS)
    weight: StrictFloat | StrictInt = Field(
        default=1.0, gt=0, le=1000, description="factor of the challenge's points"
    )


class AttemptLimits(Strict):
    """Per challenge, while the assignment is open. Null: only the platform's limits."""

    day: StrictInt | None = Field(
        default=None, ge=1, le=1000, description="submissions per day of the course's time zone"
    )
    total: StrictInt | None = Field(default=None, ge=1, le=10_000)
    pending: StrictInt | None = Field(
        default=None, ge=1, le=1000, description="submissions waiting or running at once"
    )


class AssignmentBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>: the whole assignment. A new one is a
    draft.
    """

    title: str = Field(min_length=1, max_length=limits.TITLE_CHARS)
    parts: list[PartBody] = Field(min_length=1, max_length=50)
    open_at: str = Field(max_length=40, description=_TIME.format("beginning"))
    due_at: str = Field(max_length=40, description=_TIME.format("end"))
    late_until: str | None = Field(
        default=None, max_length=40, description="null: nothing counts after `due_at`"
    )
    late_percent: StrictFloat | StrictInt = Field(
        default=0.0, ge=0, le=100, description="percent of the points lost per day begun after `due_at`"
    )
    grace_days: StrictInt = Field(
        default=0, ge=0, le=365, description="late days that a student's grace days may cover here"
    )
    attempts: AttemptLimits = AttemptLimits()
    languages: list[Language] = Field(
        default_factory=list, description="empty: all that the challenge accepts"
    )
    devices: list[str] = Field(default_factory=list, max_length=50, description="empty: all that are served")
    counts: Counts = Counts.BEST
    question_points: StrictFloat | StrictInt = Field(
        default=0.0,
        ge=0,
        le=1000,
        description="points of each challenge for the questions on the kernel that counts; 0: they do not count",
    )
    reveal_hidden: StrictBool = Field(
        default=False,
        description="students see their hidden cases once nobody can submit for points any more",
    )
    partial_credit: StrictBool = Field(
        default=False,
        description="a submission that is not accepted gets the points of the groups of cases that it passes",
    )
    open_solutions: StrictBool = Field(
        default=False,
        description="students who solved a challenge may then read staff's solution, and kernels that others share",
    )
    group_size: StrictInt = Field(
        default=1, ge=1, le=100, description="members that a group may have; 1: everyone hands in alone"
    )
    groups_until: str | None = Field(
        default=None,
        max_length=40,
        description="until when students may change their groups; null: until the group hands in",
    )
    category: str = Field(
        default="", max_length=limits.NAME_CHARS, description="a name in the course's policy; empty: none"
    )
    out_of: StrictFloat | StrictInt | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="what all points of its challenges together are worth; null: their sum",
    )
    revision: Revision = None


class PublishAssignmentBody(Strict):
    """Body of POST /api/v1/courses/<course>/assignments/<assignment>/publish."""

    published: StrictBool = True


class GroupView(Strict):
    name: str
    points: float = Field(description="if every case of the group is right, with the part's weight")
    needs: list[str] = Field(description="groups without which it earns nothing")


class PartView(Strict):
    challenge: str
    title: str
    weight: float
    points: float | None = Field(description="the maximum; null while its folder is broken")
    groups: list[GroupView] = Field(
        default_factory=list,
        description="if the assignment gives partial credit: what can be earned in parts",
    )


class AttemptsLeft(Strict):
    """Of one challenge; null: no limit by the assignment."""

    challenge: str
    day: int | None
    total: int | None
    pending: int | None


class AssignmentView(Strict):
    """Times are the caller's: with an extension, the extended ones."""

    course: str
    slug: str
    title: str
    parts: list[PartView]
    open_at: datetime
    due_at: datetime
    late_until: datetime | None
    extended: bool = False
    time_zone: str
    phase: WindowPhase
    late_percent: float
    grace_days: int
    attempts: AttemptLimits
    left: list[AttemptsLeft] = Field(
        default_factory=list, description="the calling student's, while it is open"
    )
    languages: list[Language]
    devices: list[str]
    counts: Counts
    question_points: float = 0.0
    reveal_hidden: bool
    partial_credit: bool = False
    open_solutions: bool = False
    group_size: int = 1
    groups_until: datetime | None = None
    group: list[str] = Field(
        default_factory=list, description="if it takes groups: who hands in with the calling student now"
    )
    category: str = ""
    out_of: float | None = None
    published_at: datetime | None = Field(description="null: a draft, which students do not see")
    revision: int


class AssignmentList(Strict):
    course: str
    assignments: list[AssignmentView]


class ExtensionBody(Strict):
    """Body of PUT /api/v1/courses/<course>/assignments/<assignment>/extensions: for a student, a section or
    the members of a group, even after the deadline. It also applies to earlier submissions.
    """

    student: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    section: str | None = Field(default=None, min_length=1, max_length=limits.NAME_CHARS)
    group: str | None = Field(default=None, min_length=1, max_length=limits.NAME_CHARS)
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
