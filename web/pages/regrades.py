from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader import limits
from grader.errors import BadRequest, Conflict, GraderError, NotFound
from grader.schemas.regrade import RegradeBody, RegradeDecision, RegradeView
from grader.service.review import regrade
from grader.web import forms
from grader.web.access import PARTY, TEACHERS, open_to
from grader.web.answers import conditional
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.keys import Page

pages = Blueprint("regrades", __name__)

_WHAT = ("submission", "course", "assignment", "student", "challenge")
# Of each table; the API has all.
_SHOWN = 500


@pages.get("/regrades")
@open_to(TEACHERS)
def index() -> str:
    """Regrades that you may decide on, newest first."""
    found = regrade.list_regrades(platform(), current_user(), request.args.get("course") or None)
    return render_template("regrade/index.html", found=found.regrades)


@pages.get("/regrades/new")
@open_to(TEACHERS)
def new() -> str:
    """The form for a regrade; the address names its submissions."""
    regrade.check(platform(), current_user())
    return _form(request.args.to_dict())


@pages.post("/regrades")
@open_to(TEACHERS)
def start() -> BaseResponse | Page:
    """Start a regrade; a large one needs its name typed."""
    regrade.check(platform(), current_user())
    given = {name: request.form.get(name, "").strip() for name in (*_WHAT, "reason", "confirm")}
    try:
        body = RegradeBody(
            **{name: given[name] or None for name in _WHAT}, reason=given["reason"], confirm=given["confirm"]
        )
        found = regrade.start(platform(), current_user(), body)
    except ValidationError:
        error = BadRequest(
            "Name a submission, a challenge, or a course with an assignment or a student, and give a reason."
        )
        return _form(given, error), error.status
    except (BadRequest, Conflict, NotFound) as refused:
        return _form(given, refused), refused.status
    return redirect(url_for("regrades.show", number=found.number), 303)


def _form(given: dict[str, str], error: GraderError | None = None) -> str:
    return render_template(
        "regrade/new.html",
        given=given,
        error=error,
        reason_chars=limits.REASON_CHARS,
        most=limits.REGRADE_UNCONFIRMED,
    )


@pages.get("/regrades/<int:number>")
@open_to(PARTY)
def show(number: int) -> str:
    """What a regrade changes, side by side."""
    return _page(regrade.get(platform(), current_user(), number))[0]


@pages.get("/regrades/<int:number>/panel")
@open_to(PARTY)
def panel(number: int) -> Response:
    """The part of that page that changes during judging; 304 while it does not."""
    found = regrade.get(platform(), current_user(), number)
    return conditional(Response(render_template("regrade/_panel.html", **_shown(found))))


@pages.post("/regrades/<int:number>")
@open_to(PARTY)
def decide(number: int) -> BaseResponse | Page:
    """Publish or discard a regrade."""
    try:
        action = request.form.get("action", "")
        if action == "discard":
            regrade.discard(platform(), current_user(), number)
        elif action == "publish":
            body = RegradeDecision(partial=forms.ticked("partial"))
            regrade.publish(platform(), current_user(), number, body)
        else:
            raise BadRequest("Publish it or discard it.")
    except (BadRequest, Conflict) as error:
        return _page(regrade.get(platform(), current_user(), number), error)
    return redirect(url_for("regrades.show", number=number), 303)


def _shown(found: RegradeView) -> dict[str, object]:
    return {"found": found, "shown": found.submissions[:_SHOWN], "most_shown": _SHOWN}


def _page(found: RegradeView, error: GraderError | None = None) -> Page:
    page = render_template("regrade/show.html", **_shown(found), error=error)
    return page, error.status if error else 200
