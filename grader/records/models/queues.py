from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.budget import Payer
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


class BudgetRow(Base):
    """GPU seconds a day of UTC, and in all; null: no limit. ``payer_id`` is the id in the payer's own table."""

    __tablename__ = "budgets"

    payer: Mapped[Payer] = mapped_column(words(Payer, 16), primary_key=True)
    payer_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    day_s: Mapped[float | None]
    total_s: Mapped[float | None]


class GpuTimeRow(Base):
    """GPU seconds of a day of UTC (``2026-12-31``). Course, competition and token are 0 if none paid."""

    __tablename__ = "gpu_time"
    __table_args__ = (
        Index(None, "course_id", "day"),
        Index(None, "competition_id", "day"),
        Index(None, "token_id", "day"),
    )

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    device: Mapped[str] = mapped_column(String(32), primary_key=True)
    course_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    competition_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    token_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seconds: Mapped[float]
