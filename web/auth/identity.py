"""The caller, by bearer token, else by session cookie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from flask import Flask, g, request, session

from grader.errors import NotSignedIn
from grader.service.accounts import tokens
from grader.service.boards import readers
from grader.service.messages import mail
from grader.service.operation import worker_tokens
from grader.web import throttle
from grader.web.auth import scopes
from grader.web.auth.sessions import TOKEN_KEY
from grader.web.current import platform

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.service.accounts.accounts import User
    from grader.service.operation.worker_tokens import WorkerToken
    from grader.service.platform import Platform

WORKER_PATHS = "/api/v1/worker/"
_Caller = TypeVar("_Caller")


def init_app(app: Flask) -> None:
    app.before_request(_identify)
    app.context_processor(_for_templates)


def _for_templates() -> dict[str, Any]:
    settings = platform().settings
    return {
        "viewer": viewer(),
        "is_staff": is_staff(),
        "is_admin": is_admin(),
        "reads_boards": readers.may_read(platform(), viewer()),
        "sign_up_policy": settings.sign_up,
        "sends_mail": mail.configured(settings),
    }


def viewer() -> User | None:
    user: User | None = getattr(g, "user", None)
    return user


def current_user() -> User:
    """Raises NotSignedIn."""
    user = viewer()
    if user is None:
        raise NotSignedIn("Nobody is signed in.", "Sign in, or send an API token: `grader login` stores one.")
    return user


def current_worker() -> WorkerToken:
    """Raises NotSignedIn."""
    worker: WorkerToken | None = getattr(g, "worker", None)
    if worker is None:
        raise NotSignedIn(
            "This address needs a worker's token.", "Staff issue one: grader admin worker token NAME"
        )
    return worker


def is_staff() -> bool:
    """By role and the token's scopes."""
    user = viewer()
    return user is not None and user.staff


def is_admin() -> bool:
    user = viewer()
    return user is not None and user.admin


def by_cookie() -> bool:
    """True if only the cookie identifies the caller: then CSRF must be ruled out."""
    return bool(getattr(g, "by_cookie", False))


def bearer_token() -> str | None:
    """ "" for a header without a token, None without the header."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _checked(find: Callable[[Platform, str], _Caller], token: str) -> _Caller:
    """A bad token is an error, never "nobody"."""
    try:
        return find(platform(), token)
    except NotSignedIn:
        throttle.count_bad_token()
        raise


def _identify() -> None:
    g.user, g.worker, g.by_cookie = None, None, False
    if request.endpoint in ("static", "language_colours"):
        return
    if request.path.startswith(WORKER_PATHS):
        # Neither a user's token nor a cookie counts here, and a worker's token nowhere else.
        if (token := bearer_token()) is not None:
            g.worker = _checked(worker_tokens.find, token)
        return
    if request.path.startswith("/api/") and (token := bearer_token()) is not None:
        g.user = _checked(tokens.user_of_token, token)
        scopes.check(g.user)
        return
    if TOKEN_KEY not in session:
        return
    try:
        g.user = tokens.user_of_token(platform(), session[TOKEN_KEY])
        g.by_cookie = True
    except NotSignedIn:
        session.clear()
