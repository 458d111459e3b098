"""The inbox of staff: one list of what has to be looked at, and what they made of it."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound
from grader.schemas.inbox import InboxAssignment, InboxDecision, Outcome
from grader.schemas.report import Flag
from grader.service.review import inbox
from grader.service.review.inbox import InboxFilter
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.keys import Page

pages = Blueprint("inbox", __name__)

_FILTERS = ("course", "assignment", "challenge", "user", "mark", "outcome", "reviewer")
_ANY = "any"


@pages.get("/inbox")
def index() -> str:
    """What waits, newest first; filters show the rest."""
    return _page()[0]


@pages.post("/inbox")
def act() -> BaseResponse | Page:
    """Assign or decide what is ticked."""
    inbox.check(platform(), current_user())
    try:
        _act(request.form.getlist("key"), request.form.get("action", ""))
    except ValidationError:
        error = BadRequest("Tick what this is about, and say what is to be done with it.")
        return _page(error)
    except (BadRequest, Conflict, NotAllowed, NotFound) as refused:
        return _page(refused)
    return redirect(url_for("inbox.index", **_given()), 303)


def _act(keys: list[str], action: str) -> None:
    if action == "assign":
        reviewer = request.form.get("to", "").strip() or None
        inbox.assign(platform(), current_user(), InboxAssignment(keys=keys, reviewer=reviewer))
        return
    try:
        outcome = Outcome(action)
    except ValueError as error:
        raise BadRequest("Choose what is to be done.") from error
    body = InboxDecision(
        keys=keys,
        outcome=outcome,
        reason=request.form.get("reason", ""),
        submissions=request.form.getlist("submission"),
    )
    inbox.decide(platform(), current_user(), body)


def _given() -> dict[str, Any]:
    return {name: value for name in _FILTERS if (value := request.args.get(name, "").strip())}


def _page(error: GraderError | None = None) -> Page:
    given = _given()
    outcome = given.get("outcome", Outcome.OPEN.value)
    try:
        wanted = InboxFilter(**{**given, "outcome": None if outcome == _ANY else Outcome(outcome)})
    except ValueError as wrong:
        raise BadRequest("Choose an outcome of the list.") from wrong
    found = inbox.list_items(platform(), current_user(), wanted)
    page = render_template(
        "inbox.html",
        found=found,
        given=given | {"outcome": outcome},
        query=given,
        marks=[it.value for it in Flag] + ["regrade_request"],
        outcomes=[it.value for it in Outcome] + [_ANY],
        error=error,
    )
    return page, error.status if error else 200
