from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader import limits
from grader.schemas.strict import Strict


class Subject(StrEnum):
    """A report's flag, a pair of similar submissions, a regrade request, or a report of an error on a page."""

    FLAG = "flag"
    PAIR = "pair"
    REQUEST = "request"
    ERROR = "error"


class Outcome(StrEnum):
    """The decision of staff: none yet; it is fine, or the error resolved; the result is void; somebody talks to the
    student."""

    OPEN = "open"
    FINE = "fine"
    VOID = "void"
    TALK = "talk"


class InboxItem(Strict):
    key: str = Field(description="its name in decisions")
    subject: Subject
    mark: str = Field(description="a flag's word, `similar`, `regrade_request` or `error_report`")
    user: str
    submission: str | None
    other: str | None = Field(default=None, description="the other submission of a pair")
    other_user: str | None = Field(default=None, description="the other submission's author")
    challenge: str = Field(description="empty: it is about a chapter")
    course: str | None = Field(description="null: it belongs to no course")
    about: str = ""
    path: str = Field(description="the page with the evidence")
    received_at: datetime
    reviewer: str | None = None
    outcome: Outcome
    reason: str = ""
    decided_by: str | None = None
    decided_at: datetime | None = None


class InboxList(Strict):
    """Newest first."""

    items: list[InboxItem]
    more: bool = Field(description="there are more, which filters can find")
    open: int = Field(description="number of open items, whatever the filters")


_KEY = Field(min_length=1, max_length=limits.INBOX_DECIDED)


class InboxAssignment(Strict):
    """Body of POST /api/v1/inbox/assign."""

    keys: list[str] = _KEY
    reviewer: str | None = Field(max_length=limits.NAME_CHARS, description="null: nobody")


class InboxDecision(Strict):
    """Body of POST /api/v1/inbox/decide."""

    keys: list[str] = _KEY
    outcome: Outcome
    reason: str = Field(
        default="",
        max_length=limits.REASON_CHARS,
        description="required unless the outcome is fine or open; read by the author of a void result, and by whoever "
        "reported an error that is now resolved",
    )
    submissions: list[str] = Field(
        default_factory=list,
        max_length=limits.INBOX_DECIDED,
        description="submissions of pairs whose results are void",
    )


class InboxDone(Strict):
    """Number of changed items."""

    changed: int
    open: int
