"""Declares who may use a route: ``@open_to(STAFF)`` below ``@pages.get(...)``. A route without a declaration is
refused, and fails a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from flask import Flask, current_app, request

from grader.errors import NotAllowed
from grader.service.accounts.accounts import User, check_admin, check_staff
from grader.service.challenges import ownership
from grader.service.competitions import open_competition
from grader.service.courses import courses
from grader.service.courses.permissions import Action
from grader.web.auth.identity import current_user, current_worker
from grader.web.current import platform


class Who(StrEnum):
    """The value completes "open to ..."."""

    ANYONE = "anyone"
    SIGNED_IN = "anyone who is signed in"
    # By GRADER_BOARD_READERS, in the use case.
    READERS = "whoever may read boards"
    # By the object in the address, in the use case.
    OWNER = "its owner"
    AUTHOR = "its author, their teachers and staff"
    PERSON = "that person and staff"
    PARTY = "members of it, by their role"
    TEACHERS_OF_AUTHOR = "the author's teachers and staff"
    TEACHERS = "teachers and staff"
    STAFF = "staff"
    ADMINS = "admins"
    # No user: by a worker's token alone.
    WORKER = "workers with a worker's token"


ANYONE, SIGNED_IN, READERS = Who.ANYONE, Who.SIGNED_IN, Who.READERS
OWNER, AUTHOR, PERSON = Who.OWNER, Who.AUTHOR, Who.PERSON
PARTY, TEACHERS_OF_AUTHOR, TEACHERS = Who.PARTY, Who.TEACHERS_OF_AUTHOR, Who.TEACHERS
STAFF, ADMINS, WORKER = Who.STAFF, Who.ADMINS, Who.WORKER

# Caller, variables of the address. Raises NotAllowed, NotFound.
Check = Callable[[User, dict[str, Any]], None]
_CHECKS: dict[Who, Check] = {
    STAFF: lambda user, _: check_staff(user),
    ADMINS: lambda user, _: check_admin(user),
}
_READING = ("GET", "HEAD", "OPTIONS")
_View = TypeVar("_View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Access:
    who: Who
    check: Check | None
    action: Action | None
    guard: bool

    @property
    def signed_in(self) -> bool:
        return self.who not in (ANYONE, READERS)


def open_to(
    who: Who, check: Check | None = None, *, action: Action | None = None, guard: bool = True
) -> Callable[[_View], _View]:
    """Checks sign-in (except for ANYONE and READERS), STAFF and ADMINS. ``check`` runs before the body is read, so
    callers learn nothing about it; the use case checks again. ``action``: of a course's route that changes something.
    ``guard=False``: the view sends people to sign in, with their query."""

    def declare(view: _View) -> _View:
        view.__dict__["access"] = Access(who, check or _CHECKS.get(who), action, guard)
        return view

    return declare


def access_of(view: Callable[..., Any]) -> Access | None:
    found: Access | None = getattr(view, "access", None)
    return found


def in_course(action: Action) -> Check:
    """In the course of the address."""
    return lambda user, at: courses.check(platform(), user, at["course"], action)


def in_competition(action: Action) -> Check:
    return lambda user, at: open_competition.check(platform(), user, at["slug"], action)


def on_challenge(action: Action) -> Check:
    """Staff of the platform, or of the challenge's course."""
    return lambda user, at: ownership.check_once(platform(), user, at["slug"], action)


def init_app(app: Flask) -> None:
    app.before_request(_guard)
    open_to(ANYONE)(app.view_functions["static"])


def _guard() -> None:
    if request.endpoint is None:  # no route matches
        return
    access = access_of(current_app.view_functions[request.endpoint])
    if access is None:
        raise NotAllowed("This route declares nobody who may use it.")
    if access.who is WORKER:
        current_worker()
        return
    if not access.signed_in or not access.guard:
        return
    user = current_user()
    at = request.view_args or {}
    if access.check is not None:
        access.check(user, at)
    elif access.action is not None and request.method not in _READING:
        in_course(access.action)(user, at)
