"""Discussions of challenges and chapters, and reports of errors on their pages."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool, StrictInt

from grader import limits
from grader.schemas.strict import Strict


class About(StrEnum):
    CHALLENGE = "challenge"
    CHAPTER = "chapter"


class PostKind(StrEnum):
    POST = "post"
    ERROR = "error"
    """A report to staff: the page has an error."""


class Withheld(StrEnum):
    """Why the caller gets no text: staff hid it, or it is a spoiler and they have not solved the challenge."""

    DELETED = "deleted"
    HIDDEN = "hidden"
    SPOILER = "spoiler"


class PostBody(Strict):
    """Body of POST /api/v1/discussions/<about>/<slug>."""

    text: str = Field(min_length=1, max_length=limits.COMMENT_CHARS, description="Markdown")
    spoiler: StrictBool = Field(default=False, description="hidden from those who have not solved it")
    thread: StrictInt | None = Field(
        default=None, ge=1, le=2**31 - 1, description="replies to this thread; null: begins one"
    )


class PostChange(Strict):
    """Body of PATCH /api/v1/discussions/<about>/<slug>/<number>; omitted fields stay unchanged."""

    text: str | None = Field(default=None, min_length=1, max_length=limits.COMMENT_CHARS)
    spoiler: StrictBool | None = None


class HideBody(Strict):
    """Body of PUT /api/v1/discussions/<about>/<slug>/<number>/hidden."""

    hidden: StrictBool
    reason: str = Field(
        default="", max_length=limits.REASON_CHARS, description="required to hide; the author reads it"
    )


class PostView(Strict):
    number: int
    thread: int = Field(description="number of the thread's first post")
    author: str | None
    staff: bool = Field(description="its author wrote as staff")
    own: bool
    text: str = Field(description="Markdown; empty if it is withheld")
    withheld: Withheld | None = None
    spoiler: bool
    created_at: datetime
    edited_at: datetime | None = None
    hidden_at: datetime | None = None
    hidden_by: str | None = Field(default=None, description="for staff")
    hidden_reason: str = Field(default="", description="for its author and staff")


class PostThread(Strict):
    """A post with its replies, oldest first."""

    number: int = Field(description="of its first post")
    posts: list[PostView]


class Discussion(Strict):
    """Newest thread first."""

    about: About
    slug: str
    title: str
    threads: list[PostThread]
    further: int | None = Field(default=None, description="`older_than` of the next page; null: no more")
    count: int = Field(description="posts in all threads")
    solved: bool = Field(description="the caller solved the challenge, or did all exercises of the chapter")
    may_hide: bool


class ErrorReportBody(Strict):
    """Body of POST /api/v1/discussions/<about>/<slug>/reports."""

    text: str = Field(min_length=1, max_length=limits.COMMENT_CHARS)


class ErrorReport(Strict):
    """A report of an error, as its author sees it."""

    number: int
    text: str
    created_at: datetime
    resolved_at: datetime | None
    answer: str = Field(description="staff's note; empty: none")
