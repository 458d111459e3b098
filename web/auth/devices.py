"""Browsers in which an account's owner has signed in before. Others' guesses at the account do not lock these out: they
are counted separately (see ``throttle``).

The signed cookie names one account, that of the last sign-in, and opens nothing. One for each account would exceed a
server's limit for headers on a computer that a whole class uses.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from flask import Response, after_this_request, current_app, request
from itsdangerous import BadData, URLSafeTimedSerializer

from grader import limits
from grader.service.accounts.accounts import name_key

if TYPE_CHECKING:
    from grader.service.accounts.accounts import User

COOKIE = "grader_device"
_LIFE = timedelta(days=limits.KNOWN_DEVICE_DAYS)


def remember(user: User) -> None:
    """Give the browser a cookie for ``user``, if it has none."""
    if known(user.name):
        return
    value = _signer().dumps([account(user.name), secrets.token_urlsafe()])

    @after_this_request
    def _set(response: Response) -> Response:
        response.set_cookie(
            COOKIE, value, max_age=_LIFE, secure=request.is_secure, httponly=True, samesite="Lax"
        )
        return response


def known(name: str) -> str | None:
    """The key by which tries at the account ``name`` from this browser are counted; None if it is not known there."""
    try:
        whose, nonce = _signer().loads(request.cookies.get(COOKIE, ""), max_age=int(_LIFE.total_seconds()))
    except (BadData, TypeError, ValueError):
        return None
    return str(nonce) if whose == account(name) else None


def account(name: str) -> str:
    """An account in keys and cookies, whether it exists or not. Hashed: typed text must not be a key in Redis."""
    return hashlib.sha256(name_key(name).encode("utf-8", "replace")).hexdigest()


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt="grader-device")
