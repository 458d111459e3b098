from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, model_validator

from grader import limits
from grader.schemas.policy import GradePolicy
from grader.schemas.strict import Day, Strict


class CourseRole(StrEnum):
    """``assistant`` reads and comments, ``instructor`` also sets deadlines and grades, ``owner`` appoints
    staff.
    """

    OWNER = "owner"
    INSTRUCTOR = "instructor"
    ASSISTANT = "assistant"
    STUDENT = "student"


STAFF_OF_COURSE = (CourseRole.OWNER, CourseRole.INSTRUCTOR, CourseRole.ASSISTANT)


class Visibility(StrEnum):
    """Name, term and staff of a course are visible to its members, or to everyone signed in."""

    MEMBERS = "members"
    LISTED = "listed"


# Longer texts never reach the database.
SLUG_PATTERN = r"^[a-z0-9][a-z0-9_-]*$"
CourseSlug = Annotated[str, Field(pattern=SLUG_PATTERN, max_length=limits.SLUG_CHARS)]
Revision = Annotated[
    StrictInt | None,
    Field(
        description="the revision that was read: 409 if the course changed since; omit it to skip this check"
    ),
]


class CourseBody(Strict):
    """Body of POST /api/v1/courses. The caller becomes its owner."""

    slug: CourseSlug
    name: str = Field(min_length=1, max_length=limits.TITLE_CHARS)
    term: str = Field(default="", max_length=limits.NAME_CHARS)
    time_zone: str = Field(
        default="UTC", max_length=64, description="of the IANA database, such as Europe/Berlin"
    )
    visibility: Visibility = Visibility.MEMBERS
    grace_days: StrictInt = Field(
        default=0,
        ge=0,
        le=365,
        description="late days per student in the whole course that cost nothing",
    )
    plan: str = Field(
        default="",
        max_length=limits.SLUG_CHARS,
        description="a plan of the catalogue, such as twelve-weeks; its assignments are made as drafts",
    )
    first_day: Day | None = Field(default=None, description="of the plan's first week")

    @model_validator(mode="after")
    def _has_both(self) -> CourseBody:
        if bool(self.plan) != (self.first_day is not None):
            raise ValueError("plan and first_day go together")
        return self


class CourseChange(Strict):
    """Body of PATCH /api/v1/courses/<course>; omitted fields stay unchanged."""

    name: str | None = Field(default=None, min_length=1, max_length=limits.TITLE_CHARS)
    term: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    time_zone: str | None = Field(default=None, max_length=64)
    visibility: Visibility | None = None
    grace_days: StrictInt | None = Field(default=None, ge=0, le=365)
    policy: GradePolicy | None = Field(default=None, description="replaces the whole policy")
    discussion: StrictBool | None = Field(
        default=None, description="students may discuss the challenges of its assignments, and chapters"
    )
    archived: StrictBool | None = Field(default=None, description="an archived course is read-only")
    revision: Revision = None


class CourseView(Strict):
    slug: str
    name: str
    term: str
    time_zone: str
    visibility: Visibility
    grace_days: int
    archived: bool
    revision: int
    created_at: datetime
    role: CourseRole | None = Field(default=None, description="the caller's")
    staff: dict[str, CourseRole] = Field(default_factory=dict, description="by name")
    students: int | None = Field(default=None, description="for staff")
    policy: GradePolicy = GradePolicy()
    discussion: bool = Field(
        default=True, description="students may discuss the challenges of its assignments, and chapters"
    )
    invited: int | None = Field(
        default=None, description="people on the roster without an account; for staff"
    )


class CourseList(Strict):
    courses: list[CourseView]


class StaffBody(Strict):
    """Body of PUT /api/v1/courses/<course>/staff/<name>."""

    role: Literal["owner", "instructor", "assistant"] | None = Field(description="null removes the role")


class MemberView(Strict):
    name: str
    full_name: str
    student_number: str
    email: str | None
    role: CourseRole
    section: str
    group: str
    came_by: str
    joined_at: datetime
    accepted: bool = Field(
        default=True,
        description="the student joined, by a link, a code or a visit; before that, staff see none of their work",
    )


class InvitedView(Strict):
    """On the roster, but has not joined yet."""

    id: int
    full_name: str
    student_number: str
    email: str
    section: str
    group: str
    issued_at: datetime | None = Field(description="when a link was last printed or mailed")
    expires_at: datetime | None


class RemovedView(Strict):
    """Removed from the roster. Only staff can bring them back."""

    name: str
    full_name: str
    student_number: str
    section: str
    removed_at: datetime


class Roster(Strict):
    course: str
    members: list[MemberView]
    invited: list[InvitedView]
    removed: list[RemovedView] = Field(default_factory=list)
    sections: list[str]
    groups: list[str]
    group_codes: dict[str, str] = Field(
        default_factory=dict, description="the code of each group, with which students join it; for staff"
    )


class RosterBody(Strict):
    """Body of POST /api/v1/courses/<course>/roster."""

    text: str = Field(description="a CSV file whose first line names its columns")
    dry_run: StrictBool = Field(default=True, description="only show what would change")
    drop_missing: StrictBool = Field(
        default=False, description="remove students and invitations that the file does not name"
    )
    skip_bad: StrictBool = Field(
        default=False,
        description="import the good rows even if there are bad ones; otherwise nothing changes then",
    )
    let_back_in: StrictBool = Field(
        default=False, description="let students of the file back in whom staff removed"
    )


# "removed": the file names somebody whom staff removed; they stay out.
RosterKind = Literal["add", "invite", "change", "return", "removed", "drop", "withdraw"]


class RosterChange(Strict):
    line: int | None = Field(description="of the file; null if the person is not in it")
    person: str
    full_name: str = Field(default="", description="as in the file")
    kind: RosterKind
    what: list[str] = Field(default_factory=list, description="changed fields, as `section: A -> B`")


class RosterProblem(Strict):
    line: int
    column: str
    text: str


class RosterResult(Strict):
    dry_run: bool
    applied: bool = Field(description="the changes were made")
    rows: int
    unchanged: int
    counts: dict[RosterKind, int]
    changes: list[RosterChange]
    problems: list[RosterProblem]
    unused: list[str] = Field(description="columns of the file with no meaning here")


class MemberChange(Strict):
    """Body of PATCH /api/v1/courses/<course>/roster/<name>."""

    section: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    group: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    full_name: str | None = Field(default=None, max_length=limits.TITLE_CHARS)
    student_number: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    on_roster: StrictBool | None = Field(
        default=None, description="false removes a student, true lets them back in"
    )


class InvitationOrder(Strict):
    """Body of POST /api/v1/courses/<course>/invitations: new links for people who have not joined. Earlier
    links stop working.
    """

    mail: StrictBool = Field(
        default=False, description="mail the links; otherwise the answer holds them, for printing"
    )
    days: StrictInt = Field(default=30, ge=1, le=limits.INVITATION_DAYS)
    section: str | None = Field(default=None, description="only people of this section")


class PersonalLink(Strict):
    full_name: str
    student_number: str
    email: str
    section: str
    link: str


class InvitationSheet(Strict):
    course: str
    name: str
    expires_at: datetime
    mailed: int
    unmailed: list[str] = Field(description="people without an address")
    links: list[PersonalLink] = Field(description="shown only this once; empty if they were mailed")


class JoinCodeBody(Strict):
    section: str = Field(default="", max_length=limits.NAME_CHARS)
    uses: StrictInt | None = Field(default=None, ge=1, le=100_000, description="null: any number")
    days: StrictInt = Field(default=30, ge=1, le=limits.INVITATION_DAYS)


class JoinCodeView(Strict):
    id: int
    code: str
    section: str
    uses: int | None
    used: int
    expires_at: datetime
    link: str = Field(description="a page for joining")


class JoinCodeList(Strict):
    codes: list[JoinCodeView]


class JoinBody(Strict):
    """Body of POST /api/v1/courses/join."""

    key: str = Field(max_length=128, description="a join code, or the key of a personal link")


class JoinOffer(Strict):
    """The course that a code or key opens."""

    course: str
    name: str
    term: str
    section: str
    full_name: str = ""


class CourseGroup(Strict):
    """Students who hand in together."""

    name: str
    members: list[str]
    code: str = Field(description="lets others join")


class OwnGroup(Strict):
    """The caller's group, and whether they may change it now."""

    course: str
    group: CourseGroup | None
    most: int | None = Field(description="members that a group may have; null: no assignment takes groups")
    closed: str = Field(default="", description="why no group can be made, joined or left; empty: it can")
    stays: str = Field(default="", description="why the student cannot leave this group; empty: they can")


class GroupBody(Strict):
    """Body of POST /api/v1/courses/<course>/group: exactly one of the three."""

    make: str | None = Field(
        default=None, max_length=limits.NAME_CHARS, description="the name of a new group"
    )
    join: str | None = Field(default=None, max_length=64, description="a group's code")
    leave: StrictBool = False


class AuditEntry(Strict):
    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    reason: str


class AuditLog(Strict):
    entries: list[AuditEntry]
