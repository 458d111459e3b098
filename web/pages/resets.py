from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import GraderError, NotFound
from grader.service.accounts import first_admin, resets
from grader.service.accounts.links import LinkUseless
from grader.service.messages import mail
from grader.web import throttle
from grader.web.access import ANYONE, open_to
from grader.web.auth import sessions
from grader.web.current import platform
from grader.web.pages.keys import Page, private, shown_key

pages = Blueprint("resets", __name__)


@pages.get("/forgot")
@open_to(ANYONE)
def forgot() -> str:
    """Asks for name or address; without mail, says whom to ask."""
    return render_template("forgot.html")


@pages.post("/forgot")
@open_to(ANYONE)
@throttle.mailed_link_limit
def ask() -> str:
    """Mail a link. Answer and time are the same for every name."""
    if not mail.configured(platform().settings):
        raise NotFound("This platform sends no mail.", "Ask the staff for a link.")
    resets.ask(platform(), request.form.get("name", ""))
    return render_template("message.html", title="A new password", message=resets.ANSWER)


@pages.get("/reset")
@open_to(ANYONE)
def form() -> Response:
    """The page of a password link. Opening it uses nothing up: mail programs open links, too."""
    return private(_reset_page(shown_key(), None))


@pages.post("/reset")
@open_to(ANYONE)
@throttle.mailed_link_limit
def reset() -> Response:
    """Set the password, end all sessions and tokens of the account, and sign in."""
    key = shown_key()
    try:
        user = resets.use(platform(), key, request.form.get("password", ""))
    except LinkUseless:
        raise
    except GraderError as error:
        return private(_reset_page(key, error))
    sessions.begin(user)
    return redirect(url_for("challenges.index"), 303)


@pages.get("/setup")
@open_to(ANYONE)
def setup_form() -> Response:
    """Asks whoever has the link for the first admin's name and password."""
    return private(_setup_page(shown_key(), "", None))


@pages.post("/setup")
@open_to(ANYONE)
@throttle.mailed_link_limit
def set_up() -> Response:
    """Create the first admin, with the link in the platform's log or terminal."""
    key = shown_key()
    name = request.form.get("name", "").strip()
    try:
        user = first_admin.make(platform(), key, name, request.form.get("password", ""))
    except LinkUseless:
        raise
    except GraderError as error:
        return private(_setup_page(key, name, error))
    sessions.begin(user)
    return redirect(url_for("challenges.index"), 303)


def _reset_page(key: str, error: GraderError | None) -> Page:
    name = resets.account_name(platform(), key)
    return render_template("reset.html", name=name, key=key, error=error), error.status if error else 200


def _setup_page(key: str, name: str, error: GraderError | None) -> Page:
    first_admin.check(platform(), key)
    return render_template("setup.html", name=name, key=key, error=error), error.status if error else 200
