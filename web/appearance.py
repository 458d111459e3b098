"""The server renders the theme, so nothing flashes."""

from __future__ import annotations

from typing import Any

from flask import Flask, request
from werkzeug.wrappers import Response

from grader.schemas.preferences import Theme
from grader.web.auth.identity import viewer

COOKIE = "grader_theme"
_YEAR_SECONDS = 365 * 24 * 3600
# The header's button cycles in this order.
_ROUND = {Theme.SYSTEM: Theme.LIGHT, Theme.LIGHT: Theme.DARK, Theme.DARK: Theme.SYSTEM}


def init_app(app: Flask) -> None:
    app.context_processor(_for_templates)


def theme() -> Theme:
    user = viewer()
    if user is not None:
        return user.preferences.theme
    chosen = request.cookies.get(COOKIE, "")
    return Theme(chosen) if chosen in set(Theme) else Theme.SYSTEM


def remember(response: Response, chosen: Theme) -> None:
    """For pages before the next sign-in."""
    response.set_cookie(
        COOKIE, chosen.value, max_age=_YEAR_SECONDS, secure=request.is_secure, httponly=True, samesite="Lax"
    )


def _for_templates() -> dict[str, Any]:
    present = theme()
    return {"theme": present.value, "next_theme": _ROUND[present].value}
