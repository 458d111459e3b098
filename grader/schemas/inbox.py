from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader import limits
from grader.schemas.strict import Strict


class Subject(StrEnum):
    """A report's flag, a pair of similar submissions, or a regrade request."""

    FLAG = "flag"
    PAIR = "pair"
    REQUEST = "request"


class Outcome(StrEnum):
    """The decision of staff: none yet; it is fine; the result is void; somebody talks to the student."""

    OPEN = "open"
    FINE = "fine"
    VOID = "void"
    TALK = "talk"


class InboxItem(Strict):
    key: str = Field(description="its name in decisions")
    subject: Subject
    mark: str = Field(description="a flag's word, `similar` or `regrade_request`")
    user: str
    submission: str | None
    other: str | None = Field(default=None, description="the other submission of a pair")
    other_user: str | None = Field(default=None, description="the other submission's author")
    challenge: str
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
        description="required unless the outcome is fine or open; the author of a void result reads it",
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
