from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow

_SHA256 = 64
_ZERO = text("0")


class CourseRow(Base):
    __tablename__ = "courses"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), unique=True)
    name: Mapped[str] = mapped_column(String(limits.TITLE_CHARS))
    term: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    time_zone: Mapped[str] = mapped_column(String(64))
    # A ``grader.schemas.course.Visibility``.
    visibility: Mapped[str] = mapped_column(String(16))
    # Per student for the whole course.
    grace_days: Mapped[int] = mapped_column(default=0, server_default=_ZERO)
    # A ``grader.schemas.policy.GradePolicy``; empty: add points up. Text, as PostgreSQL's JSON cannot be
    # DISTINCT.
    policy: Mapped[str] = mapped_column(Text, default="", server_default="")
    # Its students may discuss its assignments' challenges, and chapters.
    discussion: Mapped[bool] = mapped_column(default=True, server_default=true())
    # Grows with every change, so concurrent edits do not overwrite each other.
    revision: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    archived_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class MemberRow(Base):
    """Submissions outlive ``left_at``. A student without a ``StayRow`` has not accepted."""

    __tablename__ = "course_members"
    __table_args__ = (UniqueConstraint("course_id", "user_id"), Index(None, "user_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    role: Mapped[str] = mapped_column(String(16))
    section: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    group_name: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    full_name: Mapped[str] = mapped_column(String(limits.TITLE_CHARS), default="", server_default="")
    student_number: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    came_by: Mapped[str] = mapped_column(String(limits.TITLE_CHARS), default="", server_default="")
    joined_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    left_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class StayRow(Base):
    """A course may read submissions from a stay. While the student is removed, ``MemberRow.left_at`` holds."""

    __tablename__ = "course_stays"
    __table_args__ = (Index(None, "member_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("course_members.id", ondelete="CASCADE"))
    accepted_at: Mapped[datetime] = mapped_column(UtcDateTime)
    left_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class CourseInvitationRow(Base):
    __tablename__ = "course_invitations"
    __table_args__ = (UniqueConstraint("course_id", "person"), Index(None, "user_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    # The address in lower case, or ``#`` and the student number.
    person: Mapped[str] = mapped_column(String(limits.EMAIL_CHARS))
    email: Mapped[str] = mapped_column(String(limits.EMAIL_CHARS), default="", server_default="")
    role: Mapped[str] = mapped_column(String(16))
    section: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    group_name: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    full_name: Mapped[str] = mapped_column(String(limits.TITLE_CHARS), default="", server_default="")
    student_number: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    # Null until the key is printed or mailed.
    sha256: Mapped[str | None] = mapped_column(String(_SHA256), unique=True)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    issued_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    accepted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))


class CourseGroupRow(Base):
    """The join code is plain, as members and staff may see it. The row's lock makes the group's submissions
    take turns.
    """

    __tablename__ = "course_groups"
    __table_args__ = (UniqueConstraint("course_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    join_code: Mapped[str] = mapped_column(String(16), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class PartnerRow(Base):
    """A submission counts for its author's partners, even if their group changes."""

    __tablename__ = "submission_partners"
    __table_args__ = (Index(None, "user_id"), Index(None, "assignment_id"))

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    assignment_id: Mapped[int] = mapped_column(
        ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)


class JoinCodeRow(Base):
    """Plain, as staff may see it; ``uses`` null: any number."""

    __tablename__ = "course_join_codes"
    __table_args__ = (Index(None, "course_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    code: Mapped[str] = mapped_column(String(16), unique=True)
    section: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    uses: Mapped[int | None]
    used: Mapped[int] = mapped_column(default=0, server_default=_ZERO)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)


class AssignmentRow(Base):
    """A draft until ``published_at``."""

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("course_id", "slug"),
        CheckConstraint("open_at < due_at", name="opens_before_due"),
        CheckConstraint("late_until IS NULL OR late_until >= due_at", name="late_after_due"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    slug: Mapped[str] = mapped_column(String(limits.SLUG_CHARS))
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS))
    open_at: Mapped[datetime] = mapped_column(UtcDateTime)
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Null: nothing is accepted after ``due_at``.
    late_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # Points lost per day begun after ``due_at``.
    late_percent: Mapped[float] = mapped_column(default=0.0, server_default=_ZERO)
    # Days that a student's own grace days can cover.
    grace_days: Mapped[int] = mapped_column(default=0, server_default=_ZERO)
    # Null: only the platform's limits.
    attempts_day: Mapped[int | None]
    attempts_total: Mapped[int | None]
    attempts_pending: Mapped[int | None]
    # Empty: all.
    languages: Mapped[list[str]] = mapped_column(JSON, default=list)
    # Empty: all.
    devices: Mapped[list[str]] = mapped_column(JSON, default=list)
    counts: Mapped[str] = mapped_column(String(16))
    reveal_hidden: Mapped[bool] = mapped_column(default=False, server_default=false())
    partial_credit: Mapped[bool] = mapped_column(default=False, server_default=false())
    open_solutions: Mapped[bool] = mapped_column(default=False, server_default=false())
    group_size: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    # Null: students may change groups until theirs hands in.
    groups_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # Of the course's policy; empty: none.
    category: Mapped[str] = mapped_column(String(limits.NAME_CHARS), default="", server_default="")
    # Worth of all its challenges; null: their sum.
    out_of: Mapped[float | None]
    # Per challenge, for all questions on the kernel that counts.
    question_points: Mapped[float] = mapped_column(default=0.0, server_default=_ZERO)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revision: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class AssignmentPartRow(Base):
    __tablename__ = "assignment_parts"
    __table_args__ = (Index(None, "challenge"),)

    assignment_id: Mapped[int] = mapped_column(
        ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True
    )
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), primary_key=True)
    weight: Mapped[float] = mapped_column(default=1.0)
    place: Mapped[int]


class AskedRow(Base):
    """A part that is put back keeps the time."""

    __tablename__ = "assignment_asked"

    assignment_id: Mapped[int] = mapped_column(
        ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True
    )
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS), primary_key=True)
    asked_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ExtensionRow(Base):
    """A student's takes precedence over a section's."""

    __tablename__ = "extensions"
    __table_args__ = (
        UniqueConstraint("assignment_id", "user_id"),
        UniqueConstraint("assignment_id", "section"),
        CheckConstraint("(user_id IS NULL) <> (section IS NULL)", name="of_one_or_of_a_section"),
        CheckConstraint("late_until IS NULL OR late_until >= due_at", name="late_after_due"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    section: Mapped[str | None] = mapped_column(String(limits.NAME_CHARS))
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    late_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    reason: Mapped[str] = mapped_column(Text, default="")
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class OverrideRow(Base):
    """The audit log has earlier values."""

    __tablename__ = "grade_overrides"
    __table_args__ = (UniqueConstraint("assignment_id", "challenge", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    points: Mapped[float]
    reason: Mapped[str] = mapped_column(Text)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class CurveRow(Base):
    """Without an assignment, for the course's total. ``mean`` and ``highest`` stay, so later submissions move
    nobody else's points.
    """

    __tablename__ = "grade_curves"
    __table_args__ = (Index(None, "course_id"), UniqueConstraint("assignment_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    assignment_id: Mapped[int | None] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    formula: Mapped[str] = mapped_column(String(200))
    mean: Mapped[float]
    highest: Mapped[float]
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
