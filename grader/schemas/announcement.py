from __future__ import annotations

from datetime import datetime

from pydantic import Field, StrictBool

from grader import limits
from grader.schemas.strict import Moment, Strict


class AnnouncementBody(Strict):
    title: str = Field(min_length=1, max_length=limits.TITLE_CHARS)
    text: str = Field(default="", max_length=limits.ANNOUNCEMENT_CHARS, description="Markdown")
    assignment: str | None = Field(
        default=None, max_length=limits.SLUG_CHARS, description="of the course, if it is about one"
    )
    seen: Moment | None = Field(
        default=None,
        description="the `edited_at` that was read: nothing is changed if somebody edited it since; omit it to skip "
        "this check",
    )


class AnnouncementView(Strict):
    number: int
    assignment: str | None
    title: str
    text: str
    made_by: str | None
    created_at: datetime
    edited_at: datetime | None


class AnnouncementList(Strict):
    announcements: list[AnnouncementView]


class QuestionBody(Strict):
    text: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)
    about: str | None = Field(
        default=None,
        max_length=limits.SLUG_CHARS,
        description="an assignment of the course, or a challenge of the competition",
    )


class QuestionAnswer(Strict):
    answer: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)
    to_all: StrictBool = Field(
        default=False, description="everybody may read question and answer, but not who asked"
    )
    seen: Moment | None = Field(
        default=None,
        description="the `answered_at` that was read: nothing is changed if somebody answered since; omit it to skip "
        "this check",
    )


class QuestionView(Strict):
    number: int
    about: str | None
    text: str
    asked_by: str | None = Field(description="for staff and the person who asked")
    own: bool
    created_at: datetime
    answer: str
    answered_by: str | None
    answered_at: datetime | None
    to_all: bool


class QuestionList(Strict):
    """Unanswered questions first, then the newest."""

    questions: list[QuestionView]
