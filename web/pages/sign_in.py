from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import GraderError, NotSignedIn
from grader.service.accounts import oidc
from grader.web.access import ANYONE, open_to
from grader.web.auth import sessions
from grader.web.auth.identity import viewer
from grader.web.auth.redirects import safe_path
from grader.web.current import platform
from grader.web.pages.keys import Page

pages = Blueprint("sign_in", __name__)


@pages.get("/sign-in")
@open_to(ANYONE)
def form() -> str | Response:
    """Asks for name and password."""
    wanted = safe_path(request.args.get("next"))
    if viewer() is not None:
        return redirect(wanted)
    return sign_in_page(None, wanted)[0]


@pages.post("/sign-in")
@open_to(ANYONE)
def submit() -> Response | tuple[str, int]:
    """Begin a session, and return to the page that asked for it."""
    wanted = safe_path(request.form.get("next"))
    name = request.form.get("name", "").strip()
    try:
        sessions.sign_in(name, request.form.get("password", ""))
    except NotSignedIn as error:
        return sign_in_page(error, wanted, name)
    return redirect(wanted, 303)


def sign_in_page(error: GraderError | None, wanted: str, name: str = "") -> Page:
    """With a button for each provider."""
    settings = platform().settings
    providers = {each: oidc.label(settings, each) for each in settings.oidc}
    page = render_template("sign_in.html", next=wanted, name=name, error=error, providers=providers)
    return page, error.status if error else 200


@pages.post("/sign-out")
@open_to(ANYONE)
def sign_out() -> Response:
    """End this session."""
    sessions.end()
    response = redirect(url_for("challenges.index"), 303)
    # Removes the editor's drafts for the next person. Browsers obey it over TLS.
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response
