"""A submission has a verdict if and only if it is done or has failed."""

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

# 32 random bytes, in characters that URLs need not escape.
SHARE_KEY_CHARS = 43
# Nobody has two tokens whose hashes begin alike.
TOKEN_KEY_CHARS = 16


class SubmissionRow(Base):
    """A judgement: a submission, or one that was judged again."""

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
    # The one case of a run (``OwnCase.stored``); null: every public case.
    own_case: Mapped[str | None] = mapped_column(Text)
    filename: Mapped[str] = mapped_column(String(limits.FILENAME_CHARS))
    idempotency_key: Mapped[str | None] = mapped_column(String(128))
    # Null in rows of early releases, like ``source_sha256``.
    request_sha256: Mapped[str | None] = mapped_column(String(64))
    source_sha256: Mapped[str | None] = mapped_column(String(64))
    # Begins its sender's token's hash, if the token has limits of its own.
    token_key: Mapped[str | None] = mapped_column(String(TOKEN_KEY_CHARS))
    kind: Mapped[JudgingReason] = mapped_column(
        words(JudgingReason, 16), default=JudgingReason.COURSE, server_default=JudgingReason.COURSE.value
    )
    # See ``grader.records.order``.
    priority: Mapped[int] = mapped_column(default=0)
    # The original, if staff had it judged again. It uses no attempt.
    rejudge_of: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"))
    # Such a row is on no other board.
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id"))
    team_id: Mapped[int | None] = mapped_column(ForeignKey("competition_teams.id"))
    # Whose budgets its GPU seconds count against, apart from its author's and its competition's; no foreign
    # keys, since both may go first.
    course_id: Mapped[int | None]
    token_id: Mapped[int | None]
    # A GPU's UUID or a host's name.
    machine: Mapped[str | None] = mapped_column(String(255))
    set_aside: Mapped[SetAside | None] = mapped_column(words(SetAside, 16))
    # All judgements have the same value.
    withdrawn_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    state: Mapped[State] = mapped_column(words(State, 16), default=State.QUEUED)
    # Grows with every claim and fences late results.
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(128))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    progress: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    # Key of the compiled library.
    artefact: Mapped[str | None] = mapped_column(String(64))
    # In the URL with which its owner shares it.
    share_key: Mapped[str | None] = mapped_column(String(SHARE_KEY_CHARS))
    # Of the web request that submitted it.
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
    # Of the correctness points, earned by groups of cases, 0 to 1.
    credit: Mapped[float | None]
    passed: Mapped[int | None]
    total: Mapped[int | None]

    user: Mapped[UserRow] = relationship()


class FlagRow(Base):
    """Of the report that counts. ``received_at`` is the submission's time, for lists in order."""

    __tablename__ = "submission_flags"
    __table_args__ = (Index(None, "flag", "received_at", "submission_id"),)

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    flag: Mapped[Flag] = mapped_column(words(Flag, 24), primary_key=True)
    received_at: Mapped[datetime] = mapped_column(UtcDateTime)


class QuizRow(Base):
    """``body``: a ``grader.schemas.quiz.DrawnQuestion``; empty once the account is deleted. ``is_right``:
    null until it is settled.
    """

    __tablename__ = "quiz_questions"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(Text)
    given: Mapped[list[int]] = mapped_column(JSON, default=list)
    used: Mapped[int] = mapped_column(default=0)
    is_right: Mapped[bool | None]
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ReportRow(Base):
    """Of the attempt that counts."""

    __tablename__ = "reports"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    attempt: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
