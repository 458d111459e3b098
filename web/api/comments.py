from __future__ import annotations

from flask import Response
from pydantic import Field

from grader.schemas.feedback import CommentBody, CommentChange, CommentList
from grader.service.review import comments
from grader.web.access import AUTHOR, open_to
from grader.web.answers import answer
from grader.web.api.resource import resource
from grader.web.api.submissions import SubmissionPath
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("comments", "Comments on submissions")

_AT = "/submissions/<id>/comments"


class CommentPath(SubmissionPath):
    number: int = Field(ge=1, le=2**31 - 1)


@api.get(_AT, responses={200: CommentList})
@open_to(AUTHOR)
def list_comments(path: SubmissionPath) -> Response:
    """The threads on a submission, by line. Drafts and earlier texts are for staff."""
    return answer(comments.list_comments(platform(), current_user(), path.id))


@api.post(_AT, responses={201: CommentList})
@open_to(AUTHOR)
def add_comment(path: SubmissionPath, body: CommentBody) -> Response:
    """Comment on lines or on the whole source (staff of the author's course), or reply to a thread (also the
    author)."""
    return answer(comments.add(platform(), current_user(), path.id, body), 201)


@api.patch(f"{_AT}/<int:number>", responses={200: CommentList})
@open_to(AUTHOR)
def change_comment(path: CommentPath, body: CommentChange) -> Response:
    """Edit a comment, send a draft, resolve or reopen a thread."""
    return answer(comments.change(platform(), current_user(), path.id, path.number, body))


@api.delete(f"{_AT}/<int:number>", responses={200: CommentList})
@open_to(AUTHOR)
def delete_comment(path: CommentPath) -> Response:
    """Delete your own comment; the course's staff may delete anyone's. A note of the deletion stays."""
    return answer(comments.remove(platform(), current_user(), path.id, path.number))
