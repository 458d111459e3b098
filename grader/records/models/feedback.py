from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import PUBLIC_ID_CHARS, Base, UtcDateTime, utcnow, words
from grader.schemas.feedback import RequestState, Shown


class CommentRow(Base):
    """``thread_id`` null: it begins a thread, and has its lines (none: the whole source) and state."""

    __tablename__ = "comments"
    __table_args__ = (
        CheckConstraint("first_line IS NULL OR first_line <= last_line", name="lines_in_order"),
        Index(None, "submission_id", "id"),
        Index(None, "author_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    thread_id: Mapped[int | None] = mapped_column(ForeignKey("comments.id", ondelete="CASCADE"))
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    staff: Mapped[bool]
    first_line: Mapped[int | None]
    last_line: Mapped[int | None]
    text: Mapped[str] = mapped_column(Text)
    draft: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    edited_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    resolved_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    resolved_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))


class CommentEditRow(Base):
    """Until ``by_id`` changed or deleted it."""

    __tablename__ = "comment_edits"
    __table_args__ = (Index(None, "comment_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    comment_id: Mapped[int] = mapped_column(ForeignKey("comments.id", ondelete="CASCADE"))
    by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    text: Mapped[str] = mapped_column(Text)
    until: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class FeedbackRow(Base):
    """``regrade_limit`` and ``regrade_until`` null: no limit."""

    __tablename__ = "assignment_feedback"

    assignment_id: Mapped[int] = mapped_column(
        ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True
    )
    shown: Mapped[Shown] = mapped_column(words(Shown, 16), default=Shown.AT_ONCE)
    released_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    regrade_limit: Mapped[int | None] = mapped_column(default=limits.REGRADE_REQUESTS)
    regrade_until: Mapped[datetime | None] = mapped_column(UtcDateTime)


class CriterionRow(Base):
    __tablename__ = "rubric_criteria"
    __table_args__ = (Index(None, "assignment_id", "challenge"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS))
    place: Mapped[int]
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS))
    about: Mapped[str] = mapped_column(Text, default="", server_default="")
    points: Mapped[float]


class ScoreRow(Base):
    __tablename__ = "rubric_scores"
    __table_args__ = (Index(None, "user_id"),)

    criterion_id: Mapped[int] = mapped_column(
        ForeignKey("rubric_criteria.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    points: Mapped[float]
    reason: Mapped[str] = mapped_column(Text, default="", server_default="")
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    made_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class RegradeRequestRow(Base):
    """``submission`` is a public id."""

    __tablename__ = "regrade_requests"
    __table_args__ = (
        CheckConstraint("(answered_at IS NULL) = (state IN ('open', 'withdrawn'))", name="answered"),
        UniqueConstraint("assignment_id", "challenge", "user_id", "turn"),
        Index(None, "course_id", "state", "id"),
        Index(None, "user_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS))
    submission: Mapped[str | None] = mapped_column(String(PUBLIC_ID_CHARS))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    turn: Mapped[int]
    """the student's first request for this part, their second, ...: of two at once one is stored"""
    text: Mapped[str] = mapped_column(Text)
    state: Mapped[RequestState] = mapped_column(words(RequestState, 16), default=RequestState.OPEN)
    answer: Mapped[str] = mapped_column(Text, default="", server_default="")
    answered_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    answered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
