from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.similarity import Decision

_ID_CHARS = 32


class SimilarityRunRow(Base):
    __tablename__ = "similarity_runs"

    assignment_id: Mapped[int] = mapped_column(
        ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True
    )
    made_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    sources: Mapped[int]
    seconds: Mapped[float]


class SimilarPairRow(Base):
    """Public ids: ``other`` is of this assignment, earlier, or empty for the staff's solution. ``share``:
    part of the submission's weight that the other has; ``bits``: their common weight. A decision outlives
    later comparisons.
    """

    __tablename__ = "similar_pairs"
    __table_args__ = (
        UniqueConstraint("assignment_id", "submission", "other"),
        Index(None, "submission"),
        Index(None, "other"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(limits.SLUG_CHARS))
    submission: Mapped[str] = mapped_column(String(_ID_CHARS))
    other: Mapped[str] = mapped_column(String(_ID_CHARS))
    share: Mapped[float]
    other_share: Mapped[float]
    bits: Mapped[float]
    decision: Mapped[Decision] = mapped_column(words(Decision, 16), default=Decision.OPEN)
    reason: Mapped[str] = mapped_column(Text, default="")
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    decided_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
