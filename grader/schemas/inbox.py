"""The inbox of staff: marks of submissions, similar pairs and requests that somebody has to look at."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from grader import limits
from grader.schemas.strict import Strict


class Subject(StrEnum):
    """What an item is: a mark of a report, a pair of similar submissions, or a student's request for a regrade."""

    FLAG = "flag"
    PAIR = "pair"
    REQUEST = "request"


class Outcome(StrEnum):
    """What staff made of it: nothing yet; it is fine; the result is void; or somebody talks with the student."""

    OPEN = "open"
    FINE = "fine"
    VOID = "void"
    TALK = "talk"


class InboxItem(Strict):
    """``key`` names it in decisions. ``mark`` is a flag's word, ``similar`` or ``regrade_request``; ``path`` is the
    page with the evidence; ``other`` is the other submission of a pair, and whose it is."""

    key: str
    subject: Subject
    mark: str
    user: str
    submission: str | None
    other: str | None = None
    other_user: str | None = None
    challenge: str
    course: str | None = Field(description="none: it belongs to no course")
    about: str = ""
    path: str
    received_at: datetime
    reviewer: str | None = None
    outcome: Outcome
    reason: str = ""
    decided_by: str | None = None
    decided_at: datetime | None = None


class InboxList(Strict):
    """Newest first. ``more``: there are further ones, which filters find. ``open``: how many wait, whatever the
    filters."""

    items: list[InboxItem]
    more: bool
    open: int


_KEY = Field(min_length=1, max_length=limits.INBOX_DECIDED)


class InboxAssignment(Strict):
    """Body of POST /api/v1/inbox/assign: who looks at these; none: nobody in particular."""

    keys: list[str] = _KEY
    reviewer: str | None = Field(max_length=limits.NAME_CHARS)


class InboxDecision(Strict):
    """Body of POST /api/v1/inbox/decide. ``submissions``: of pairs, whose results are void. A reason is needed unless
    it is fine or open again; of a void result its author reads it."""

    keys: list[str] = _KEY
    outcome: Outcome
    reason: str = Field(default="", max_length=limits.REASON_CHARS)
    submissions: list[str] = Field(default_factory=list, max_length=limits.INBOX_DECIDED)


class InboxDone(Strict):
    """How many items were changed."""

    changed: int
    open: int
