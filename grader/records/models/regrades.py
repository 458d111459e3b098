from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.regrade import RegradeScope, RegradeState


class RegradeRow(Base):
    """``course_id`` null: the platform's staff ordered it. ``left_out``: submissions whose sources were
    deleted with an account.
    """

    __tablename__ = "regrades"
    __table_args__ = (Index(None, "course_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    scope: Mapped[RegradeScope] = mapped_column(words(RegradeScope, 16))
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    assignment_id: Mapped[int | None] = mapped_column(ForeignKey("assignments.id", ondelete="SET NULL"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"))
    challenge: Mapped[str | None] = mapped_column(String(limits.SLUG_CHARS))
    reason: Mapped[str] = mapped_column(Text)
    left_out: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    state: Mapped[RegradeState] = mapped_column(words(RegradeState, 16), default=RegradeState.OPEN)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    decided_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class RegradeItemRow(Base):
    """``held_id`` is ``first_id`` while the regrade is open: it is unique, so no two open regrades have the
    same submission.
    """

    __tablename__ = "regrade_items"
    __table_args__ = (Index(None, "regrade_id"), Index(None, "first_id"), Index(None, "before_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    regrade_id: Mapped[int] = mapped_column(ForeignKey("regrades.id", ondelete="CASCADE"))
    first_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    before_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    after_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), unique=True)
    held_id: Mapped[int | None] = mapped_column(unique=True)
