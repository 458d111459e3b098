"""The signed cookie contains an API token made at sign-in: signing in rotates it, and signing out ends it on the
server, even in a copied cookie."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

from flask import Flask, request, session
from flask.sessions import SecureCookieSessionInterface

from grader.service.accounts import accounts, tokens
from grader.service.accounts.tokens import TokenKind, TokenRequest
from grader.web import throttle
from grader.web.auth import devices
from grader.web.current import platform

if TYPE_CHECKING:
    from grader.service.accounts.accounts import User

COOKIE = "grader_session"
TOKEN_KEY = "token"  # noqa: S105 - the name of a key
_BEGUN_KEY = "begun"
_RECENT_SECONDS = 600
# In a User-Agent. Order matters: Edge and Opera claim to be Chrome, Chrome to be Safari.
_BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
_SYSTEMS = {
    "Windows": "Windows",
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}
# A student signs in once a fortnight.
LIFETIME = timedelta(days=14)


class Sessions(SecureCookieSessionInterface):
    """Secure if the request came over TLS; loopback needs no certificate."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def sign_in(name: str, password: str) -> User:
    """Raises NotSignedIn, RateLimitExceeded."""
    with throttle.password_try(name):
        user = accounts.authenticate(platform(), name, password)
    begin(user)
    return user


def begin(user: User) -> None:
    """Nothing of an earlier session survives, including its CSRF token."""
    end()
    session.permanent = True
    lifetime = min(LIFETIME, timedelta(days=platform().settings.token_days))
    wish = TokenRequest(_label(), lifetime, kind=TokenKind.SESSION, address=request.remote_addr or "")
    session[TOKEN_KEY] = tokens.issue(platform(), user, wish).token
    session[_BEGUN_KEY] = int(time.time())
    devices.remember(user)


def is_recent() -> bool:
    """True if it began just now: then its owner is present."""
    return time.time() - float(session.get(_BEGUN_KEY, 0)) < _RECENT_SECONDS


def end() -> None:
    """Here and on the server."""
    token = session.get(TOKEN_KEY)
    session.clear()
    if token:
        tokens.revoke_token(platform(), token)


def _label() -> str:
    """Such as ``Firefox on Linux``."""
    agent = request.user_agent.string
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), "A browser")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), "")
    return f"{browser} on {system}" if system else browser
