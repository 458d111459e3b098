from __future__ import annotations

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound
from grader.schemas.inbox import InboxAssignment, InboxDecision, InboxList, Outcome
from grader.schemas.report import Flag
from grader.service.courses import assignments
from grader.service.courses.permissions import Action
from grader.service.review import filter_names, inbox
from grader.service.review.inbox import InboxFilter
from grader.web.access import TEACHERS, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.keys import Page

pages = Blueprint("inbox", __name__)

_FILTERS = ("course", "assignment", "challenge", "user", "mark", "outcome", "reviewer")
_ANY = "any"


@pages.get("/inbox")
@open_to(TEACHERS)
def index() -> Page:
    """Open items, newest first; filters show the others."""
    return _page()


@pages.post("/inbox")
@open_to(TEACHERS)
def act() -> BaseResponse | Page:
    """Assign or decide the ticked items."""
    inbox.check(platform(), current_user())
    try:
        _act(request.form.getlist("key"), request.form.get("action", ""))
    except ValidationError:
        error = BadRequest("Tick items, and choose an action.")
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
        raise BadRequest("Choose an action.") from error
    body = InboxDecision(
        keys=keys,
        outcome=outcome,
        reason=request.form.get("reason", ""),
        submissions=request.form.getlist("submission"),
    )
    inbox.decide(platform(), current_user(), body)


def _given() -> dict[str, Any]:
    """``within``: COURSE or COURSE/ASSIGNMENT."""
    given = {name: value for name in _FILTERS if (value := request.args.get(name, "").strip())}
    if "within" in request.args:
        course, _, assignment = request.args["within"].strip().partition("/")
        given |= {"course": course, "assignment": assignment}
    return {name: value for name, value in given.items() if value}


def _somebody(given: dict[str, Any]) -> str | None:
    reviewer = given.get("reviewer")
    return None if reviewer == inbox.NOBODY else reviewer


def _page(error: GraderError | None = None) -> Page:
    given = _given()
    outcome = given.get("outcome", Outcome.OPEN.value)
    try:
        wanted = InboxFilter(**{**given, "outcome": None if outcome == _ANY else Outcome(outcome)})
    except ValueError as wrong:
        raise BadRequest("Choose an outcome from the list.") from wrong
    user = current_user()
    inbox.check(platform(), user)
    names = filter_names.read(platform(), user, Action.REVIEW)
    found = None
    try:
        filter_names.check(
            platform(), user, names, given.get("user"), given.get("challenge"), _somebody(given)
        )
        found = inbox.list_items(platform(), user, wanted)
    except (BadRequest, NotFound) as refused:
        error = error or refused
    page = render_template(
        "inbox.html",
        found=found or InboxList(items=[], more=False, open=0),
        refused=found is None,
        given=given | {"outcome": outcome},
        within="/".join(given[item] for item in ("course", "assignment") if item in given),
        assigned=assignments.read_by(platform(), user, Action.REVIEW),
        names=names,
        query=given,
        marks=[each.value for each in Flag] + ["regrade_request", "error_report"],
        outcomes=[entry.value for entry in Outcome] + [_ANY],
        error=error,
    )
    return page, error.status if error else 200
