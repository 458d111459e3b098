"""One's password, sessions and tokens."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from grader.errors import GraderError
from grader.service import accounts, tokens
from grader.web import throttle
from grader.web.auth import sessions
from grader.web.auth.identity import current_user
from grader.web.current import platform

pages = Blueprint("account", __name__)


@pages.get("/account")
def show() -> str:
    """Where one is signed in, and the form that changes the password."""
    return _page(None)


@pages.post("/account/password")
@throttle.sign_in_limit
@throttle.account_limit
def change_password() -> Response | tuple[str, int]:
    """A new password: every session and token ends, and this browser gets a new session."""
    user = current_user()
    try:
        accounts.change_password(
            platform(), user, request.form.get("present", ""), request.form.get("new", "")
        )
    except GraderError as error:
        return _page(error), error.status
    sessions.begin(user)
    return redirect(url_for("account.show"), 303)


@pages.post("/account/tokens/<int:number>/revoke")
def revoke(number: int) -> Response:
    """End one token or session."""
    tokens.revoke_own(platform(), current_user(), number)
    return redirect(url_for("account.show"), 303)


def _page(error: GraderError | None) -> str:
    found = tokens.list_tokens(platform(), current_user(), session.get(sessions.TOKEN_KEY, ""))
    return render_template("account.html", found=found, error=error)
