"""Notices: what happened that somebody wants to know of, and which of it they are told, where."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictBool

from grader.schemas.strict import Strict


class NoticeKind(StrEnum):
    """What a notice is about. Each kind can be turned off, on the site and by mail."""

    COMMENT = "comment"
    GRADE = "grade"
    REGRADE = "regrade"
    RESULT = "result"
    ANNOUNCEMENT = "announcement"
    QUESTION = "question"
    COURSE = "course"


WORDS = {
    NoticeKind.COMMENT: "Comments on submissions, and replies",
    NoticeKind.GRADE: "Feedback on an assignment is out",
    NoticeKind.REGRADE: "Regrade requests and their answers",
    NoticeKind.RESULT: "Your results that were regraded or voided",
    NoticeKind.ANNOUNCEMENT: "Announcements of courses and competitions",
    NoticeKind.QUESTION: "Questions and their answers",
    NoticeKind.COURSE: "Courses that staff added you to",
}


class NoticeView(Strict):
    """``path`` is the page that shows it; ``count``: so many of the same since it was read last."""

    id: int
    kind: NoticeKind
    text: str
    path: str
    count: int
    created_at: datetime
    read_at: datetime | None


class NoticeList(Strict):
    """The newest first. ``unread`` is of all, not of these alone."""

    notices: list[NoticeView]
    unread: int


class NoticesRead(Strict):
    """Body of POST /api/v1/notices/read. Without ``ids``: all of them."""

    ids: list[int] | None = Field(default=None, max_length=200)


class NoticeChoice(Strict):
    kind: NoticeKind
    site: StrictBool = True
    mail: StrictBool = True


class NoticeChoices(Strict):
    """What somebody is told of: on the site, and by a mail that collects several. ``mailed``: whether this platform
    sends mail, and has an address of theirs."""

    choices: list[NoticeChoice]
    mailed: bool = False


class NoticeChoicesBody(Strict):
    """Body of PUT /api/v1/notices/choices; kinds that are left out stay as they are."""

    choices: list[NoticeChoice] = Field(max_length=20)


class Unsubscribed(Strict):
    """Whose mail was turned off: notices of that kind, or all where there is none."""

    user: str
    kind: NoticeKind | None
