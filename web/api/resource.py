"""What all resources of the API share: prefix, errors in the document, ways to sign in, and who is asked before a body
is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import current_app, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel

from grader.schemas.submission import ErrorEnvelope
from grader.service.accounts.accounts import User, check_admin, check_staff
from grader.service.competitions import competitions
from grader.service.courses import courses
from grader.service.courses.permissions import Action
from grader.web.auth.identity import current_user
from grader.web.current import platform

PREFIX = "/api/v1"
SIGNED_IN: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]


def resource(name: str, description: str, *, signed_in: bool) -> APIBlueprint:
    """A blueprint for one resource. ``signed_in``: its calls need a token or a session, which is found out before
    anything else of them is looked at."""
    # Also where nobody has to sign in: whoever shows a token is asked for a good one (401) with the scope for it (403),
    # and is not answered after too many bad ones (429).
    errors: dict[str | int, type[BaseModel] | dict[Any, Any] | None] = dict.fromkeys(
        (400, 401, 403, 404, 429), ErrorEnvelope
    )
    made = APIBlueprint(
        f"api_{name}",
        __name__,
        url_prefix=PREFIX,
        abp_tags=[Tag(name=name, description=description)],
        abp_security=SIGNED_IN if signed_in else [],
        abp_responses=errors,
    )
    if signed_in:
        made.before_request(_check_signed_in)
    made.before_request(_check_caller)
    return made


# Gets the caller and the words of the address; raises NotAllowed, NotFound.
Check = Callable[[User, dict[str, Any]], None]
_View = TypeVar("_View", bound=Callable[..., Any])


def asks(check: Check) -> Callable[[_View], _View]:
    """Ask ``check`` before the body of a call is read: who may not make it is told that, and nothing of the body. What
    the view calls asks again, with all that it needs to know."""

    def mark(view: _View) -> _View:
        view.__dict__["check"] = check
        return view

    return mark


def of_staff(user: User, _: dict[str, Any]) -> None:
    check_staff(user)


def of_admins(user: User, _: dict[str, Any]) -> None:
    check_admin(user)


def in_course(action: Action) -> Check:
    """Whether the caller may do that in the course of the address."""
    return lambda user, at: courses.check(platform(), user, at["course"], action)


def in_competition(action: Action) -> Check:
    """The same of a competition."""
    return lambda user, at: competitions.check(platform(), user, at["slug"], action)


def _check_signed_in() -> None:
    current_user()


def _check_caller() -> None:
    view = current_app.view_functions[request.endpoint or ""]
    check: Check | None = getattr(view, "check", None)
    if check is not None:
        check(current_user(), request.view_args or {})
