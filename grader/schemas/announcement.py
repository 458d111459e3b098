"""What staff tell everybody, and what participants ask: of a course, an assignment or a competition."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, StrictBool

from grader import limits
from grader.schemas.strict import Moment, Strict


class AnnouncementBody(Strict):
    """Markdown. ``assignment``: of the course, where it is about one. ``seen``, where it is sent, is the ``edited_at``
    that one read: where somebody else changed the announcement since, nothing is done."""

    title: str = Field(min_length=1, max_length=limits.TITLE_CHARS)
    text: str = Field(default="", max_length=limits.ANNOUNCEMENT_CHARS)
    assignment: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    seen: Moment | None = None


class AnnouncementView(Strict):
    number: int
    assignment: str | None
    title: str
    text: str
    made_by: str | None
    created_at: datetime
    edited_at: datetime | None


class AnnouncementList(Strict):
    """The newest first."""

    announcements: list[AnnouncementView]


class QuestionBody(Strict):
    """``about``: an assignment of the course, or a challenge of the competition."""

    text: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)
    about: str | None = Field(default=None, max_length=limits.SLUG_CHARS)


class QuestionAnswer(Strict):
    """``to_all``: everybody reads question and answer, but not who asked. ``seen``, where it is sent, is the
    ``answered_at`` that one read: where somebody else answered since, nothing is done."""

    answer: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)
    to_all: StrictBool = False
    seen: Moment | None = None


class QuestionView(Strict):
    """``asked_by`` is for staff and who asked."""

    number: int
    about: str | None
    text: str
    asked_by: str | None
    own: bool
    created_at: datetime
    answer: str
    answered_by: str | None
    answered_at: datetime | None
    to_all: bool


class QuestionList(Strict):
    """What is not answered first; of the rest the newest."""

    questions: list[QuestionView]
