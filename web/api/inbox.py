from __future__ import annotations

from typing import Literal

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.inbox import InboxAssignment, InboxDecision, InboxDone, InboxList, Outcome
from grader.schemas.submission import ErrorEnvelope
from grader.service.review import inbox
from grader.service.review.inbox import InboxFilter
from grader.web.access import TEACHERS, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("inbox", "Items for staff to decide (staff only)")


class InboxQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    course: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    assignment: str | None = Field(default=None, max_length=limits.SLUG_CHARS, description="with its course")
    challenge: str | None = Field(default=None, max_length=limits.SLUG_CHARS)
    user: str | None = Field(default=None, max_length=limits.NAME_CHARS, description="whose")
    mark: str | None = Field(
        default=None,
        max_length=limits.NAME_CHARS,
        description="a flag, similar, regrade_request or error_report",
    )
    outcome: Outcome | Literal["any"] = Field(default=Outcome.OPEN)
    reviewer: str | None = Field(default=None, max_length=limits.NAME_CHARS, description="a name, or nobody")


@api.get("/inbox", responses={200: InboxList})
@open_to(TEACHERS)
def list_inbox(query: InboxQuery) -> Response:
    """Open items in the courses that you teach, newest first; `outcome` selects decided ones."""
    given = query.model_dump() | {"outcome": None if query.outcome == "any" else Outcome(query.outcome)}
    return answer(inbox.list_items(platform(), current_user(), InboxFilter(**given)))


@api.post("/inbox/assign", responses={200: InboxDone})
@open_to(TEACHERS, lambda user, _: inbox.check(platform(), user))
def assign_items(body: InboxAssignment) -> Response:
    """Assign a reviewer to items."""
    return answer(inbox.assign(platform(), current_user(), body))


@api.post("/inbox/decide", responses={200: InboxDone, 409: ErrorEnvelope})
@open_to(TEACHERS, lambda user, _: inbox.check(platform(), user))
def decide_items(body: InboxDecision) -> Response:
    """Decide several items at once: all of them, or none if one is refused."""
    return answer(inbox.decide(platform(), current_user(), body))
