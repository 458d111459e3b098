from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.inbox import Outcome
from grader.schemas.report import Flag


class VoidRow(Base):
    """By the platform's staff: no judgement of the submission counts."""

    __tablename__ = "voids"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    reason: Mapped[str] = mapped_column(Text)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class CourseVoidRow(Base):
    """By a course's staff, in that course."""

    __tablename__ = "course_voids"
    __table_args__ = (Index(None, "submission_id"),)

    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    reason: Mapped[str] = mapped_column(Text)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class ReviewRow(Base):
    """Without a row nobody touched it yet. A pair's ``similar_pairs.decision`` says if it is open."""

    __tablename__ = "reviews"
    __table_args__ = (
        CheckConstraint(
            "(submission_id IS NULL) = (flag IS NULL) AND (flag IS NULL) <> (pair_id IS NULL)",
            name="of_a_flag_or_a_pair",
        ),
        UniqueConstraint("submission_id", "flag"),
        UniqueConstraint("pair_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    flag: Mapped[Flag | None] = mapped_column(words(Flag, 24))
    pair_id: Mapped[int | None] = mapped_column(ForeignKey("similar_pairs.id", ondelete="CASCADE"))
    reviewer_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    outcome: Mapped[Outcome] = mapped_column(words(Outcome, 16), default=Outcome.OPEN)
    reason: Mapped[str] = mapped_column(Text, default="")
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    decided_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
