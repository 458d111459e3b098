"""Submissions that a program sends in bulk. An entry waits here until its sender's limits let it into the queue."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import PUBLIC_ID_CHARS, Base, UtcDateTime, new_public_id, utcnow

_SHA256 = 64


class BatchRow(Base):
    """``finished_at``: all entries have ended; null again once more come. ``counts``: ends by their kind."""

    __tablename__ = "batches"
    __table_args__ = (
        UniqueConstraint("user_id", "name"),
        Index(
            "ix_batches_unfinished",
            "id",
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(String(PUBLIC_ID_CHARS), unique=True, default=new_public_id)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    # Of the token that sent the last part; null: a session. Without a foreign key: it outlives the token.
    token_sha256: Mapped[str | None] = mapped_column(String(_SHA256))
    entries: Mapped[int] = mapped_column(default=0)
    ended: Mapped[int] = mapped_column(default=0)
    bytes: Mapped[int] = mapped_column(default=0)
    counts: Mapped[dict[str, int]] = mapped_column(JSON, default=dict)
    # Why no entry enters the queue.
    held_for: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    cancelled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class BatchEntryRow(Base):
    """It waits with ``request``, is judged with ``submission_id``, and has ended with ``result``."""

    __tablename__ = "batch_entries"
    __table_args__ = (
        UniqueConstraint("batch_id", "key"),
        UniqueConstraint("batch_id", "number"),
        Index(None, "user_id"),
        Index(None, "submission_id"),
        Index(
            "ix_batch_entries_unended",
            *("batch_id", "id"),
            sqlite_where=text("result IS NULL"),
            postgresql_where=text("result IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    batch_id: Mapped[int] = mapped_column(ForeignKey("batches.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    # Of the sender's id, or of a line that has none: a repeated line is known.
    key: Mapped[str] = mapped_column(String(_SHA256))
    request_sha256: Mapped[str] = mapped_column(String(_SHA256))
    line: Mapped[int]
    sender_id: Mapped[str | None] = mapped_column(String(limits.BATCH_ID_CHARS))
    # The quota that it takes (``grader.records.quotas``).
    scope: Mapped[str] = mapped_column(String(80), default="")
    # A ``grader.schemas.batch.BatchLine``.
    request: Mapped[str | None] = mapped_column(Text)
    # Runs expire.
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id", ondelete="SET NULL"))
    # In the order in which they ended, from 1; ``result``: a ``grader.schemas.batch.BatchResult``.
    number: Mapped[int | None]
    result: Mapped[str | None] = mapped_column(Text)
