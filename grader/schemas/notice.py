from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StrictBool

from grader.schemas.strict import Strict


class NoticeKind(StrEnum):
    """Each kind can be turned off, on the site and by mail."""

    COMMENT = "comment"
    GRADE = "grade"
    REGRADE = "regrade"
    RESULT = "result"
    ANNOUNCEMENT = "announcement"
    QUESTION = "question"
    DISCUSSION = "discussion"
    COURSE = "course"


WORDS = {
    NoticeKind.COMMENT: "Comments on submissions, and replies",
    NoticeKind.GRADE: "Feedback on an assignment is out",
    NoticeKind.REGRADE: "Regrade requests and their answers",
    NoticeKind.RESULT: "Your results that were regraded or voided",
    NoticeKind.ANNOUNCEMENT: "Announcements of courses and competitions",
    NoticeKind.QUESTION: "Questions and their answers",
    NoticeKind.DISCUSSION: "Replies in discussions, and answers to your reports of errors",
    NoticeKind.COURSE: "Courses that staff added you to",
}


class NoticeView(Strict):
    id: int
    kind: NoticeKind
    text: str
    path: str = Field(description="the page that shows it")
    count: int = Field(description="equal events since it was last read")
    created_at: datetime
    read_at: datetime | None


class NoticeList(Strict):
    """Newest first."""

    notices: list[NoticeView]
    unread: int = Field(description="of all notices, not only of these")


class NoticesRead(Strict):
    """Body of POST /api/v1/notices/read."""

    ids: list[Annotated[int, Field(ge=1, le=2**31 - 1)]] | None = Field(
        default=None, max_length=200, description="null: all"
    )


class NoticeChoice(Strict):
    kind: NoticeKind
    site: StrictBool = True
    mail: StrictBool = True


class NoticeChoices(Strict):
    """On the site, and in mails that collect several."""

    choices: list[NoticeChoice]
    mailed: bool = Field(
        default=False, description="this platform sends mail, and knows an address of the person"
    )


class NoticeChoicesBody(Strict):
    """Body of PUT /api/v1/notices/choices; omitted kinds stay unchanged."""

    choices: list[NoticeChoice] = Field(max_length=20)


class Unsubscribed(Strict):
    """Mail that was turned off."""

    user: str
    kind: NoticeKind | None = Field(description="null: all kinds")
