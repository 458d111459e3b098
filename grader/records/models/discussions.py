from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.discussion import About, PostKind


class PostRow(Base):
    """``thread_id`` null: it begins a thread."""

    __tablename__ = "posts"
    __table_args__ = (
        Index(None, "about", "slug", "kind", "id"),
        Index(None, "thread_id"),
        Index(None, "author_id", "created_at"),
        Index(None, "kind", "resolved_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    about: Mapped[About] = mapped_column(words(About, 16))
    slug: Mapped[str] = mapped_column(String(limits.SLUG_CHARS))
    kind: Mapped[PostKind] = mapped_column(words(PostKind, 16), default=PostKind.POST)
    thread_id: Mapped[int | None] = mapped_column(ForeignKey("posts.id", ondelete="CASCADE"))
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    staff: Mapped[bool] = mapped_column(default=False, server_default=false())
    text: Mapped[str] = mapped_column(Text)
    spoiler: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    edited_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    hidden_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    hidden_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    hidden_reason: Mapped[str] = mapped_column(Text, default="", server_default="")
    # Of error reports.
    resolved_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    resolved_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    answer: Mapped[str] = mapped_column(Text, default="", server_default="")
