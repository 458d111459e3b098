"""Browsers in which an account's owner has signed in: others' guesses do not lock these out (``throttle``). The
signed cookie names the last account and opens nothing; one per account would exceed header limits on a class's
computer."""

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
    """The key for counting tries from this browser; None if the account is not known there."""
    try:
        whose, nonce = _signer().loads(request.cookies.get(COOKIE, ""), max_age=int(_LIFE.total_seconds()))
    except (BadData, TypeError, ValueError):
        return None
    return str(nonce) if whose == account(name) else None


def account(name: str) -> str:
    """Hashed: typed text must not become a key in Redis."""
    return hashlib.sha256(name_key(name).encode("utf-8", "replace")).hexdigest()


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt="grader-device")
