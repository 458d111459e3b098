from __future__ import annotations

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response

from grader.errors import BadRequest
from grader.records.models import utcnow
from grader.schemas.preferences import PreferencesBody, Theme
from grader.schemas.verdict import Tone
from grader.service.accounts import accounts, preferences
from grader.web import appearance
from grader.web.access import ANYONE, STAFF, open_to
from grader.web.auth.identity import current_user, viewer
from grader.web.auth.redirects import safe_path
from grader.web.current import platform

pages = Blueprint("design", __name__)


@pages.post("/theme")
@open_to(ANYONE)
def choose() -> Response:
    """Choose light, dark, or the system's theme."""
    try:
        chosen = Theme(request.form.get("theme", ""))
    except ValueError as error:
        raise BadRequest("Unknown theme.", "Choose system, light or dark.") from error
    user = viewer()
    if user is not None:
        preferences.change(platform(), user, PreferencesBody(theme=chosen))
    response = redirect(safe_path(request.form.get("back")), 303)
    appearance.remember(response, chosen)
    return response


@pages.get("/design")
@open_to(STAFF)
def show() -> str:
    """Every part of the design, in both themes side by side."""
    accounts.check_staff(current_user())
    return render_template("design.html", tones=list(Tone), now=utcnow())
