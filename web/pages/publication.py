from __future__ import annotations

from zoneinfo import ZoneInfo

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response

from grader.deadlines import parse_moment
from grader.errors import BadRequest, GraderError
from grader.records.models import utcnow
from grader.schemas.publication import BoardBody, PublicationBody, PublicationState
from grader.service.boards import board_access
from grader.service.challenges import publication
from grader.service.courses.permissions import Action
from grader.web import forms
from grader.web.access import TEACHERS, on_challenge, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform

pages = Blueprint("publication", __name__)

_UTC = ZoneInfo("UTC")


@pages.get("/challenge-states")
@open_to(TEACHERS)
def show() -> str:
    """Every challenge with its state, and forms that change it."""
    return _page(None)


@pages.get("/challenges/<slug>/state")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_PUBLISH))
def offer(slug: str) -> str:
    """What publishing or hiding a challenge would change, and for whom, with the buttons that do it."""
    return _offer(slug)


@pages.post("/challenges/<slug>/state")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_PUBLISH))
def change(slug: str) -> Response | tuple[str, int]:
    """Publish a challenge, now or at a time (UTC unless it names a zone), or hide it."""
    user, one = current_user(), forms.ticked("one")  # from this challenge's page
    try:
        publication.change(platform(), user, slug, _read())
    except GraderError as error:
        if error.status not in (400, 409):
            raise
        return (_offer(slug, error) if one else _page(error)), error.status
    if one:
        return redirect(url_for("publication.offer", slug=slug), 303)
    return redirect(url_for("publication.show", _anchor=slug), 303)


@pages.post("/challenges/<slug>/board")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_BOARD))
def set_board(slug: str) -> Response | tuple[str, int]:
    """Set whom a challenge's board names; "frozen" freezes it now, or leaves it frozen."""
    user = current_user()
    try:
        board_access.set_board(platform(), user, slug, _read_board(slug))
    except GraderError as error:
        if error.status not in (400, 409):
            raise
        return _page(error), error.status
    return redirect(url_for("publication.show", _anchor=slug), 303)


def _read_board(slug: str) -> BoardBody:
    frozen_at = None
    if forms.ticked("frozen"):
        known = publication.get_state(platform(), current_user(), slug).frozen_at
        frozen_at = (known or utcnow()).isoformat()
    try:
        return BoardBody.model_validate({"board": request.form.get("board", ""), "frozen_at": frozen_at})
    except ValidationError as error:
        raise BadRequest("A board is public, course, pseudonymous or hidden.") from error


def _read() -> PublicationBody:
    given = {"state": request.form.get("state", "")}
    if given["state"] == "scheduled":
        moment = parse_moment(request.form.get("publish_at", "")[:64], _UTC, end=False)
        given["publish_at"] = moment.isoformat()
    try:
        return PublicationBody.model_validate(given)
    except ValidationError as error:
        raise BadRequest("Unknown state.") from error


def _offer(slug: str, error: GraderError | None = None) -> str:
    user = current_user()
    present = publication.get_state(platform(), user, slug)
    # The effects of publishing, also for a plan.
    choices = [PublicationState.PUBLISHED, PublicationState.HIDDEN]
    return render_template(
        "publish.html",
        it=present,
        choices={state: publication.foresee(platform(), user, slug, state) for state in choices},
        error=error,
    )


def _page(error: GraderError | None) -> str:
    found = publication.list_states(platform(), current_user())
    return render_template("publication.html", found=found.challenges, error=error)
