from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from grader.languages import Language
from grader.records.models.base import Base, LanguageName, UtcDateTime, utcnow


class DraftRow(Base):
    __tablename__ = "drafts"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(64), primary_key=True)
    language: Mapped[Language] = mapped_column(LanguageName, primary_key=True)
    source: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class NoteRow(Base):
    """Private. ``submission_id`` is never that of a later judgement."""

    __tablename__ = "notes"

    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    )
    text: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)


class ExerciseAnswerRow(Base):
    """A user's answers to an exercise of a chapter, in order; ``is_right``: the last one is."""

    __tablename__ = "exercise_answers"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    chapter: Mapped[str] = mapped_column(String(64), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(40), primary_key=True)
    given: Mapped[list[int]] = mapped_column(JSON, default=list)
    is_right: Mapped[bool] = mapped_column(default=False)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
