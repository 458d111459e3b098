from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, false, true
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from grader import limits
from grader.records.models.base import Base, UtcDateTime, utcnow, words
from grader.schemas.notice import NoticeKind

_OF_ONE = "(course_id IS NULL) <> (competition_id IS NULL)"


class NoticeRow(Base):
    """While one is being sent, it is due and has a ``mail_id``."""

    __tablename__ = "notices"
    __table_args__ = (
        Index(None, "user_id", "id"),
        Index(
            "ix_notices_unread",
            "user_id",
            "kind",
            "path",
            sqlite_where=sql("read_at IS NULL"),
            postgresql_where=sql("read_at IS NULL"),
        ),
        Index(
            "ix_notices_mail_due",
            "created_at",
            sqlite_where=sql("mail_due"),
            postgresql_where=sql("mail_due"),
        ),
        Index(None, "created_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    kind: Mapped[NoticeKind] = mapped_column(words(NoticeKind, 16))
    text: Mapped[str] = mapped_column(Text)
    path: Mapped[str] = mapped_column(String(limits.PATH_CHARS))
    # Grows if the same happens again before they read it.
    count: Mapped[int] = mapped_column(default=1, server_default=sql("1"))
    on_site: Mapped[bool] = mapped_column(default=True, server_default=true())
    mail_due: Mapped[bool] = mapped_column(default=False, server_default=false())
    mail_id: Mapped[str | None] = mapped_column(String(limits.MESSAGE_ID_CHARS))
    mail_begun_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    mail_tries: Mapped[int] = mapped_column(default=0, server_default=sql("0"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    read_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class NoticeChoiceRow(Base):
    """Without a row, both on the site and by mail."""

    __tablename__ = "notice_choices"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[NoticeKind] = mapped_column(words(NoticeKind, 16), primary_key=True)
    site: Mapped[bool]
    mail: Mapped[bool]


class AnnouncementRow(Base):
    __tablename__ = "announcements"
    __table_args__ = (
        CheckConstraint(_OF_ONE, name="of_course_or_competition"),
        Index(None, "course_id", "id"),
        Index(None, "competition_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    assignment_id: Mapped[int | None] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(String(limits.TITLE_CHARS))
    text: Mapped[str] = mapped_column(Text)
    made_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
    edited_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class QuestionRow(Base):
    """Answered to the author, or ``to_all``. ``about`` is the slug of an assignment or a challenge."""

    __tablename__ = "questions"
    __table_args__ = (
        CheckConstraint(_OF_ONE, name="of_course_or_competition"),
        Index(None, "course_id", "id"),
        Index(None, "competition_id", "id"),
        Index(None, "user_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    course_id: Mapped[int | None] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"))
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    about: Mapped[str | None] = mapped_column(String(limits.SLUG_CHARS))
    text: Mapped[str] = mapped_column(Text)
    answer: Mapped[str] = mapped_column(Text, default="", server_default="")
    to_all: Mapped[bool] = mapped_column(default=False, server_default=false())
    answered_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    answered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=utcnow)
