"""What was submitted and what became of it. A verdict exists exactly where a submission is done or has failed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from grader import limits, logs
from grader.languages import Language
from grader.records.models.accounts import UserRow
from grader.records.models.base import (
    PUBLIC_ID_CHARS,
    Base,
    LanguageName,
    UtcDateTime,
    VerdictColumn,
    new_public_id,
    utcnow,
    words,
)
from grader.records.models.indexes import reading
from grader.schemas.report import Flag, Verdict
from grader.schemas.submission import JudgingReason, SetAside, State

# 32 random bytes, in letters that stand in an address as they are.
SHARE_KEY_CHARS = 43


class SubmissionRow(Base):
    """``attempt`` grows with every claim and fences late results; ``failures`` counts our own failures;
    ``artefact`` is the key of what it was compiled to; ``request_id`` is that of the web request that handed it in.

    ``rejudge_of`` is set on what staff have judged again under a later version: a row of its own, so that the first
    judgement stays as it was, for boards of both versions come out of one query. It is nobody's attempt.

    ``priority`` is that of its ``kind``, of a run that of its challenge's kind (see ``grader.records.order``).
    ``request_sha256`` is of what was asked for under the idempotency key, ``source_sha256`` of the source alone; rows
    of earlier releases have neither.
    ``share_key`` is in the address under which its owner lets others see it; without one nobody else may.
    ``competition_id`` and ``team_id``: handed in within a competition, or judged in its final; such a row stands on no
    other board. ``machine``: only the worker of the GPU of this UUID, or of the host of this name, may run it.
    ``set_aside``: why this judgement does not count, where it does not.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        CheckConstraint("(verdict IS NOT NULL) = (state IN ('done', 'failed'))", name="verdict_when_judged"),
        CheckConstraint("ci_lo_us <= time_us AND time_us <= ci_hi_us", name="interval_holds_time"),
        Index(None, "state", "device", "priority", "created_at"),
        Index(None, "challenge", "version", "device", "verdict"),
        *reading(),
        Index(None, "challenge", "language", "device", "verdict", "kind"),
        Index(None, "user_id", "source_sha256"),
        Index(None, "share_key", unique=True),
        # What one user has under way, however much that user has finished.
        Index(
            "ix_submissions_unfinished",
            "user_id",
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(String(PUBLIC_ID_CHARS), unique=True, default=new_public_id)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    challenge: Mapped[str] = mapped_column(String(64))
    version: Mapped[int]
    language: Mapped[Language] = mapped_column(LanguageName)
    device: Mapped[str] = mapped_column(String(32))
    source: Mapped[str] = mapped_column(Text)
    filename: Mapped[str] = mapped_column(String(limits.FILENAME_CHARS))
    idempotency_key: Mapped[str | None] = mapped_column(String(128))
    request_sha256: Mapped[str | None] = mapped_column(String(64))
    source_sha256: Mapped[str | None] = mapped_column(String(64))
    kind: Mapped[JudgingReason] = mapped_column(
        words(JudgingReason, 16), default=JudgingReason.COURSE, server_default=JudgingReason.COURSE.value
    )
    priority: Mapped[int] = mapped_column(default=0)
    rejudge_of: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"))
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id"))
    team_id: Mapped[int | None] = mapped_column(ForeignKey("competition_teams.id"))
    machine: Mapped[str | None] = mapped_column(String(255))
    set_aside: Mapped[SetAside | None] = mapped_column(words(SetAside, 16))

    state: Mapped[State] = mapped_column(words(State, 16), default=State.QUEUED)
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(128))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    progress: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    artefact: Mapped[str | None] = mapped_column(String(64))
    share_key: Mapped[str | None] = mapped_column(String(SHARE_KEY_CHARS))
    request_id: Mapped[str | None] = mapped_column(String(logs.REQUEST_ID_CHARS), default=logs.request_id)

    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    claimed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    verdict: Mapped[Verdict | None] = mapped_column(VerdictColumn(Verdict, 24))
    error: Mapped[str] = mapped_column(Text, default="")
    time_us: Mapped[float | None]
    ci_lo_us: Mapped[float | None]
    ci_hi_us: Mapped[float | None]
    speedup: Mapped[float | None]
    passed: Mapped[int | None]
    total: Mapped[int | None]

    user: Mapped[UserRow] = relationship()


class FlagRow(Base):
    """A mark of the report that counted, for lists. ``received_at`` is when the submission was: lists are read in that
    order from here."""

    __tablename__ = "submission_flags"
    __table_args__ = (Index(None, "flag", "received_at", "submission_id"),)

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    flag: Mapped[Flag] = mapped_column(words(Flag, 24), primary_key=True)
    received_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ReportRow(Base):
    """The report of the attempt that counted, as JSON text."""

    __tablename__ = "reports"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    attempt: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
