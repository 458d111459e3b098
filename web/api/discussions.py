from __future__ import annotations

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.discussion import (
    About,
    Discussion,
    ErrorReport,
    ErrorReportBody,
    HideBody,
    PostBody,
    PostChange,
    PostView,
)
from grader.schemas.submission import ErrorEnvelope
from grader.service.challenges import discussion, error_reports
from grader.web.access import SIGNED_IN, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("discussions", "Discussions of challenges and chapters")

_AT = "/discussions/<about>/<slug>"


class DiscussionPath(BaseModel):
    about: About
    slug: str = Field(max_length=limits.SLUG_CHARS)


class PostPath(DiscussionPath):
    number: int = Field(ge=1, le=2**31 - 1)


class DiscussionQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    older_than: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="only threads before this one"
    )
    thread: int | None = Field(default=None, ge=1, le=2**31 - 1, description="only this thread")


@api.get(_AT, responses={200: Discussion})
@open_to(SIGNED_IN)
def read_discussion(path: DiscussionPath, query: DiscussionQuery) -> Response:
    """The threads, newest first. Spoilers have no text until you solve the challenge or do all exercises."""
    user = current_user()
    return answer(discussion.read(platform(), user, path.about, path.slug, query.older_than, query.thread))


@api.post(_AT, responses={201: PostView})
@open_to(SIGNED_IN)
def add_post(path: DiscussionPath, body: PostBody) -> Response:
    """Begin a thread or reply to one."""
    return answer(discussion.add(platform(), current_user(), path.about, path.slug, body), 201)


@api.patch(f"{_AT}/<int:number>", responses={200: PostView})
@open_to(SIGNED_IN)
def change_post(path: PostPath, body: PostChange) -> Response:
    """Edit your own post."""
    return answer(discussion.change(platform(), current_user(), path.about, path.slug, path.number, body))


@api.delete(f"{_AT}/<int:number>", responses={200: PostView})
@open_to(SIGNED_IN)
def delete_post(path: PostPath) -> Response:
    """Delete your own post. It shows as deleted while it has replies."""
    return answer(discussion.remove(platform(), current_user(), path.about, path.slug, path.number))


@api.put(f"{_AT}/<int:number>/hidden", responses={200: PostView, 409: ErrorEnvelope})
@open_to(SIGNED_IN)
def hide_post(path: PostPath, body: HideBody) -> Response:
    """Hide a post from everyone but its author and staff, or restore it (staff only)."""
    return answer(discussion.hide(platform(), current_user(), path.about, path.slug, path.number, body))


@api.post(f"{_AT}/reports", responses={201: ErrorReport})
@open_to(SIGNED_IN)
def report_error(path: DiscussionPath, body: ErrorReportBody) -> Response:
    """Report an error of the page to staff, who answer from their inbox."""
    return answer(error_reports.report(platform(), current_user(), path.about, path.slug, body), 201)
