from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.submission import JudgingReason


class PauseRow(Base):
    """A device, ``compile`` or ``all``. Everyone sees ``reason``."""

    __tablename__ = "pauses"

    queue: Mapped[str] = mapped_column(String(32), primary_key=True)
    reason: Mapped[str] = mapped_column(Text, default="")
    by: Mapped[str] = mapped_column(String(64))
    since: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class ChallengeKindRow(Base):
    """Without a row, its track's kind."""

    __tablename__ = "challenge_kinds"

    challenge: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[JudgingReason] = mapped_column(words(JudgingReason, 16))


class QuotaRow(Base):
    """``scope`` is ``waiting``, or ``challenge:SLUG``, whose window began at ``since``."""

    __tablename__ = "quotas"
    __table_args__ = (CheckConstraint("used >= 0", name="used_is_not_negative"),)

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    scope: Mapped[str] = mapped_column(String(80), primary_key=True)
    used: Mapped[int] = mapped_column(default=0)
    since: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
