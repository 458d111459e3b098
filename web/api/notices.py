from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.notice import NoticeChoices, NoticeChoicesBody, NoticeList, NoticesRead, Unsubscribed
from grader.service.messages import digests, notices
from grader.web.access import ANYONE, SIGNED_IN, open_to
from grader.web.answers import answer, cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("notices", "Notices")


# The reader of a mail may not be signed in.
unsubscribing = resource("unsubscribing", "Turning mail off")


class KeyQuery(BaseModel):
    key: str = Field(max_length=limits.SIGNED_KEY_CHARS, description="the key of a mail's link")


@unsubscribing.post("/notices/unsubscribe", responses={200: Unsubscribed})
@open_to(ANYONE)
def unsubscribe(query: KeyQuery) -> Response:
    """Turn mail off with the signed link of a mail, for one kind of notice or for all. Mail programs call it for their
    own unsubscribe button (RFC 8058)."""
    return answer(digests.unsubscribe(platform(), query.key))


class NoticeQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=50, ge=0, le=200)
    older_than: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="the id of a notice; list those before it"
    )


@api.get("/notices", responses={200: NoticeList})
@open_to(SIGNED_IN)
def list_notices(query: NoticeQuery) -> Response:
    """Your notices, newest first. With limit=0, only the number of unread ones."""
    return cheap(notices.list_notices(platform(), current_user(), query.limit, query.older_than))


@api.post("/notices/read", responses={200: NoticeList})
@open_to(SIGNED_IN)
def read_notices(body: NoticesRead) -> Response:
    """Mark some of your notices, or all, as read."""
    return answer(notices.mark_read(platform(), current_user(), body))


@api.get("/notices/choices", responses={200: NoticeChoices})
@open_to(SIGNED_IN)
def get_choices() -> Response:
    """Which kinds of notices you get, on the site and by mail."""
    return answer(notices.choices(platform(), current_user()))


@api.put("/notices/choices", responses={200: NoticeChoices})
@open_to(SIGNED_IN)
def choose(body: NoticeChoicesBody) -> Response:
    """Turn kinds of notices on and off."""
    return answer(notices.choose(platform(), current_user(), body))
