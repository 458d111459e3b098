"""Courses, their members and rosters, as API, pages and command line see them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt

from grader import limits
from grader.schemas.strict import Strict


class CourseRole(StrEnum):
    """``assistant`` reads and comments, ``instructor`` also sets what is due and what counts, ``owner`` also says who
    teaches."""

    OWNER = "owner"
    INSTRUCTOR = "instructor"
    ASSISTANT = "assistant"
    STUDENT = "student"


STAFF_OF_COURSE = (CourseRole.OWNER, CourseRole.INSTRUCTOR, CourseRole.ASSISTANT)


class Visibility(StrEnum):
    """Who learns that there is a course: its members, or everyone who is signed in (its name, term and staff)."""

    MEMBERS = "members"
    LISTED = "listed"


# As one stands in an address; the database is asked for nothing longer.
SLUG_PATTERN = r"^[a-z0-9][a-z0-9_-]*$"
CourseSlug = Annotated[str, Field(pattern=SLUG_PATTERN, max_length=limits.SLUG_CHARS)]
Revision = Annotated[
    StrictInt | None,
    Field(
        description="the revision that was read: 409 where it has been changed since; left out, nothing is compared"
    ),
]


class CourseBody(Strict):
    """Body of POST /api/v1/courses. Who makes a course owns it."""

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
        description="late days of each student that cost nothing, in the whole course",
    )


class CourseChange(Strict):
    """Body of PATCH /api/v1/courses/<course>: what is left out stays."""

    name: str | None = Field(default=None, min_length=1, max_length=limits.TITLE_CHARS)
    term: str | None = Field(default=None, max_length=limits.NAME_CHARS)
    time_zone: str | None = Field(default=None, max_length=64)
    visibility: Visibility | None = None
    grace_days: StrictInt | None = Field(default=None, ge=0, le=365)
    archived: StrictBool | None = Field(default=None, description="an archived course is read, not changed")
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
    role: CourseRole | None = Field(default=None, description="of who asks")
    staff: dict[str, CourseRole] = Field(default_factory=dict, description="who teaches, by name")
    students: int | None = Field(default=None, description="for staff")
    invited: int | None = Field(default=None, description="of the roster, without an account yet; for staff")


class CourseList(Strict):
    courses: list[CourseView]


class StaffBody(Strict):
    """Body of PUT /api/v1/courses/<course>/staff/<name>; ``role`` none takes it away."""

    role: Literal["owner", "instructor", "assistant"] | None


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
        description="whether they took their place, by a link, a code or a visit; until then nothing of theirs is read",
    )


class InvitedView(Strict):
    """Somebody of the roster who has not come yet."""

    id: int
    full_name: str
    student_number: str
    email: str
    section: str
    group: str
    issued_at: datetime | None = Field(description="when a link was last printed or mailed")
    expires_at: datetime | None


class RemovedView(Strict):
    """Somebody whom staff took off the roster. Only staff bring them back."""

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


class RosterBody(Strict):
    """Body of POST /api/v1/courses/<course>/roster: the text of a CSV file whose first line names its columns."""

    text: str
    dry_run: StrictBool = Field(default=True, description="say what would change, and change nothing")
    drop_missing: StrictBool = Field(
        default=False, description="students and invitations that the file does not name leave the roster"
    )
    skip_bad: StrictBool = Field(
        default=False,
        description="import the good rows where there are bad ones; else nothing is changed then",
    )
    let_back_in: StrictBool = Field(
        default=False, description="students of the file whom staff removed return; else they stay out"
    )


# "removed": the file has somebody whom staff removed, and who stays out.
RosterKind = Literal["add", "invite", "change", "return", "removed", "drop", "withdraw"]


class RosterChange(Strict):
    """``line`` is of the file, none if it is missing there; ``full_name`` as the file has it. ``what`` names fields as
    ``section: A -> B``."""

    line: int | None
    person: str
    full_name: str = ""
    kind: RosterKind
    what: list[str] = Field(default_factory=list)


class RosterProblem(Strict):
    line: int
    column: str
    text: str


class RosterResult(Strict):
    """``applied``: it was done. ``unused`` are columns that mean nothing here."""

    dry_run: bool
    applied: bool
    rows: int
    unchanged: int
    counts: dict[RosterKind, int]
    changes: list[RosterChange]
    problems: list[RosterProblem]
    unused: list[str]


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
    """Body of POST /api/v1/courses/<course>/invitations: new links for those who have not come. Links that were made
    for them before stop working."""

    mail: StrictBool = Field(
        default=False, description="mail each link; else they are in the answer, to be printed"
    )
    days: StrictInt = Field(default=30, ge=1, le=limits.INVITATION_DAYS)
    section: str | None = Field(default=None, description="only those of this section")


class PersonalLink(Strict):
    full_name: str
    student_number: str
    email: str
    section: str
    link: str


class InvitationSheet(Strict):
    """``links`` are shown this once; none where they were mailed. ``unmailed``: who has no address."""

    course: str
    name: str
    expires_at: datetime
    mailed: int
    unmailed: list[str]
    links: list[PersonalLink]


class JoinCodeBody(Strict):
    section: str = Field(default="", max_length=limits.NAME_CHARS)
    uses: StrictInt | None = Field(default=None, ge=1, le=100_000, description="none: any number")
    days: StrictInt = Field(default=30, ge=1, le=limits.INVITATION_DAYS)


class JoinCodeView(Strict):
    id: int
    code: str
    section: str
    uses: int | None
    used: int
    expires_at: datetime
    link: str = Field(description="opens the page that joins")


class JoinCodeList(Strict):
    codes: list[JoinCodeView]


class JoinBody(Strict):
    """Body of POST /api/v1/courses/join: a join code, or the key of a personal link."""

    key: str = Field(max_length=128)


class JoinOffer(Strict):
    """What a code or key leads to."""

    course: str
    name: str
    term: str
    section: str
    full_name: str = ""


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
