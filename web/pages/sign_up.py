"""Making one's own account, where the platform's staff opened that (``GRADER_OPEN_SIGN_UP``)."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import GraderError, NotFound
from grader.service import accounts
from grader.web import throttle
from grader.web.auth import sessions
from grader.web.current import platform

pages = Blueprint("sign_up", __name__)


@pages.before_request
def _only_where_open() -> None:
    if not platform().settings.open_sign_up:
        raise NotFound("Accounts are made by staff here.", "Ask them for one.")


@pages.get("/sign-up")
def form() -> str:
    return render_template("sign_up.html", name="", error=None)


@pages.post("/sign-up")
@throttle.sign_in_limit
def submit() -> Response | tuple[str, int]:
    """A new student account, signed in at once."""
    name = request.form.get("name", "").strip()
    try:
        user = accounts.create_user(platform(), name, request.form.get("password", ""), accounts.Role.STUDENT)
    except GraderError as error:
        return render_template("sign_up.html", name=name, error=error), error.status
    sessions.begin(user)
    return redirect(url_for("challenges.index"), 303)
