from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow


class ChoreRow(Base):
    """Only one of all sweepers does a chore."""

    __tablename__ = "chores"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    begun_at: Mapped[datetime] = mapped_column(UtcDateTime)


class AuditRow(Base):
    """``action`` is a ``grader.service.courses.permissions.Action``, ``subject`` a path of the API."""

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "course_id", "id"), Index(None, "subject", "id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    actor_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    actor: Mapped[str] = mapped_column(String(limits.NAME_CHARS))
    action: Mapped[str] = mapped_column(String(48))
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id", ondelete="SET NULL"))
    subject: Mapped[str] = mapped_column(String(200))
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    reason: Mapped[str] = mapped_column(Text, default="", server_default="")
