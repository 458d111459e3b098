from __future__ import annotations

from typing import TypeVar

from flask import Blueprint, redirect, render_template, request, url_for
from pydantic import BaseModel, ValidationError
from werkzeug.wrappers import Response

from grader.errors import BadRequest, Conflict, GraderError
from grader.schemas.lti import LtiPlatformBody, LtiPlatformChange, LtiScoreState, PlatformKind
from grader.service.courses import courses
from grader.service.courses.permissions import Action
from grader.service.lti import linked_courses
from grader.service.lti import platforms as lti_platforms
from grader.web import forms
from grader.web.access import ADMINS, PARTY, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.courses import given
from grader.web.pages.keys import Page

pages = Blueprint("learning_platforms", __name__)

_Model = TypeVar("_Model", bound=BaseModel)


@pages.get("/lti/platforms")
@open_to(ADMINS)
def index() -> str:
    """The registered learning platforms, and this site's addresses to enter there. For admins."""
    return _index()[0]


@pages.post("/lti/platforms")
@open_to(ADMINS)
def add() -> Response | Page:
    """Register a platform. For Canvas and Moodle the site's address is enough."""
    names = ("name", "kind", "site", "client_id", "issuer", "auth_url", "token_url", "jwks_url", "accounts")
    try:
        values = given(*names) | {"deployments": _listed("deployments"), "hosts": _listed("hosts")}
        wanted = _body(LtiPlatformBody, values)
        wanted = wanted.model_copy(update={"trust_email": forms.ticked("trust_email")})
        lti_platforms.add_platform(platform(), current_user(), wanted)
    except (BadRequest, Conflict) as error:
        return _index(error)
    return redirect(url_for("learning_platforms.index"), 303)


@pages.post("/lti/platforms/<int:number>")
@open_to(ADMINS)
def change(number: int) -> Response | Page:
    """Change deployments, hosts, or who gets an account."""
    try:
        values = given("accounts") | {"deployments": _listed("deployments"), "hosts": _listed("hosts")}
        change = _body(LtiPlatformChange, values)
        change = change.model_copy(update={"trust_email": forms.ticked("trust_email")})
        lti_platforms.change_platform(platform(), current_user(), number, change)
    except BadRequest as error:
        return _index(error)
    return redirect(url_for("learning_platforms.index"), 303)


@pages.post("/lti/platforms/<int:number>/remove")
@open_to(ADMINS)
def remove(number: int) -> Response:
    """Remove a platform with its links to courses."""
    lti_platforms.remove_platform(platform(), current_user(), number)
    return redirect(url_for("learning_platforms.index"), 303)


@pages.post("/lti/keys")
@open_to(ADMINS)
def rotate() -> Response:
    """Replace the signing key."""
    lti_platforms.rotate_key(platform(), current_user())
    return redirect(url_for("learning_platforms.index"), 303)


@pages.get("/courses/<course>/lti")
@open_to(PARTY, action=Action.LTI_READ)
def show(course: str) -> str:
    """Linked courses on learning platforms, their links, and the grades sent there. For staff."""
    return _show(course)[0]


@pages.post("/courses/<course>/lti/<int:number>/unlink")
@open_to(PARTY, action=Action.LTI_LINK)
def unlink(course: str, number: int) -> Response:
    """Unlink a platform's course. For owners."""
    linked_courses.unlink(platform(), current_user(), course, number)
    return redirect(url_for("learning_platforms.show", course=course), 303)


@pages.post("/courses/<course>/lti/links/<int:number>/release")
@open_to(PARTY, action=Action.LTI_SEND)
def release(course: str, number: int) -> Response | Page:
    """Start or stop sending a link's grades."""
    try:
        linked_courses.release(platform(), current_user(), course, number, forms.ticked("released"))
    except Conflict as error:
        return _show(course, error)
    return redirect(url_for("learning_platforms.show", course=course), 303)


@pages.post("/courses/<course>/lti/links/<int:number>/send")
@open_to(PARTY, action=Action.LTI_SEND)
def send(course: str, number: int) -> Response:
    """Send again failed or waiting grades, for one student or for all."""
    student = request.form.get("student", "").strip() or None
    linked_courses.send_again(platform(), current_user(), course, number, student)
    return redirect(url_for("learning_platforms.show", course=course), 303)


def _body(model: type[_Model], values: dict[str, object]) -> _Model:
    """As ``courses.body``, for fields with lists. Raises BadRequest."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadRequest(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error


def _listed(name: str) -> list[str]:
    return request.form.get(name, "").replace(",", " ").split()


def _index(error: GraderError | None = None) -> Page:
    found = lti_platforms.list_platforms(platform(), current_user())
    page = render_template("lti/platforms.html", found=found, kinds=PlatformKind, error=error)
    return page, error.status if error else 200


def _show(course: str, error: GraderError | None = None) -> Page:
    user = current_user()
    found = linked_courses.read(platform(), user, course)
    with courses.reading(platform(), user, course, Action.LTI_READ) as opened:
        may = {"sends": opened.may(Action.LTI_SEND), "links": opened.may(Action.LTI_LINK)}
    page = render_template(
        "lti/course.html", course=course, found=found, state=LtiScoreState, error=error, **may
    )
    return page, error.status if error else 200
