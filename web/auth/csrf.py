"""Cross-site request forgery: every form of a page, and every API call that a cookie vouches for, carries a token.

Calls with a bearer token need none (a foreign page cannot send it), nor do anonymous API calls (there is nothing to
forge: they act for nobody).
"""

from __future__ import annotations

from flask import Flask
from flask_wtf.csrf import CSRFProtect  # type: ignore[import-untyped]

from grader.web.auth.identity import by_cookie
from grader.web.errors import in_api

_protect = CSRFProtect()


def init_app(app: Flask) -> None:
    app.config["WTF_CSRF_CHECK_DEFAULT"] = False  # _guard decides
    app.config["WTF_CSRF_TIME_LIMIT"] = None  # as long as the session: an editor stays open for an afternoon
    _protect.init_app(app)
    app.before_request(_guard)


def _guard() -> None:
    if in_api() and not by_cookie():
        return
    _protect.protect()
