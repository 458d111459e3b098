"""What operating the platform keeps."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from grader.records.models.base import Base, UtcDateTime


class ChoreRow(Base):
    """A chore that some sweeper does now and then, and when it was begun last: of all sweepers one does it."""

    __tablename__ = "chores"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    begun_at: Mapped[datetime] = mapped_column(UtcDateTime)
