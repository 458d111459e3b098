from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, redirect, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from grader.schemas.feedback import CommentBody, CommentChange, CommentList, CommentView, ThreadView
from grader.service.review import comments
from grader.web import forms
from grader.web.access import AUTHOR, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code, markdown
from grader.web.pages.courses import body, given

pages = Blueprint("comments", __name__)

# Long ranges show only their end.
_QUOTED = 8


@dataclass(frozen=True)
class ShownThread:
    """``quoted``: numbered lines; ``comments``: with HTML."""

    thread: ThreadView
    quoted: list[tuple[int, str]]
    comments: list[tuple[CommentView, Markup]]


def shown(found: CommentList, source: str) -> list[ShownThread]:
    lines = code.lines(source)
    return [
        ShownThread(
            thread,
            [
                (number, lines[number - 1])
                for number in range(thread.first_line or 1, (thread.last_line or 0) + 1)[-_QUOTED:]
                if number <= len(lines)
            ],
            [(comment, markdown.remark(comment.text)) for comment in thread.comments],
        )
        for thread in found.threads
    ]


def by_line(found: CommentList) -> dict[int, tuple[int, int]]:
    """Last line -> number of the thread and of its comments."""
    marks: dict[int, tuple[int, int]] = {}
    for thread in found.threads:
        if thread.last_line is not None:
            first, count = marks.get(thread.last_line, (thread.number, 0))
            marks[thread.last_line] = first, count + len(thread.comments)
    return marks


@pages.post("/submissions/<submission>/comments")
@open_to(AUTHOR)
def add(submission: str) -> BaseResponse:
    """Comment on lines, on the whole source, or reply to a thread."""
    values: dict[str, Any] = given("text", "first_line", "last_line", "thread")
    asked = body(CommentBody, values | {"draft": str(forms.ticked("draft"))})
    found = comments.add(platform(), current_user(), submission, asked)
    newest = max((comment.number for thread in found.threads for comment in thread.comments), default=0)
    return _back(submission, f"comment-{newest}")


@pages.post("/submissions/<submission>/comments/<int:number>")
@open_to(AUTHOR)
def change(submission: str, number: int) -> BaseResponse:
    """Edit, send or delete a comment; resolve or reopen its thread."""
    user, action = current_user(), request.form.get("action", "")
    if action == "delete":
        comments.remove(platform(), user, submission, number)
        return _back(submission, "comments")
    values = given("text") if action == "save" else {}
    if action in ("resolve", "reopen"):
        values = {"resolved": str(action == "resolve")}
    elif action == "send":
        values = given("text") | {"send": "true"}
    comments.change(platform(), user, submission, number, body(CommentChange, values))
    return _back(submission, f"comment-{number}")


def _back(submission: str, anchor: str) -> BaseResponse:
    return redirect(url_for("submissions.show", submission=submission, _anchor=anchor), 303)
