from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import GraderError, NotFound
from grader.schemas.account import SignUpBody
from grader.service.accounts import sign_up
from grader.service.accounts.links import LinkUseless
from grader.web import throttle
from grader.web.access import ANYONE, open_to
from grader.web.auth import sessions
from grader.web.current import platform
from grader.web.pages.keys import Page, private, shown_key

pages = Blueprint("sign_up", __name__)


@pages.get("/sign-up")
@open_to(ANYONE)
def form() -> Response:
    """The form, or the one that asks for a link. Opening it does not use up an invitation."""
    key = shown_key()
    with throttle.join_code(key):
        return private(_page(key))


@pages.post("/sign-up")
@open_to(ANYONE)
def submit() -> Response:
    """Create an account and sign in."""
    key = shown_key()
    name = request.form.get("name", "").strip()
    throttle.count_sign_up(key)
    try:
        body = SignUpBody.model_construct(name=name, password=request.form.get("password", ""), key=key)
        with throttle.join_code(key):
            user = sign_up.sign_up(platform(), body)
    except (LinkUseless, NotFound):
        raise
    except GraderError as error:
        return private(_page(key, name, error))
    sessions.begin(user)
    return redirect(url_for("challenges.index"), 303)


@pages.post("/sign-up/address")
@open_to(ANYONE)
@throttle.mailed_link_limit
def ask() -> Response:
    """Mail a link to an address. The answer does not tell if the address has an account."""
    email = request.form.get("email", "").strip()
    try:
        sign_up.ask_for_link(platform(), email)
    except NotFound:
        raise
    except GraderError as error:
        return private(_page("", "", error, email))
    return private((render_template("message.html", title="Sign up", message=sign_up.ANSWER), 200))


def _page(key: str, name: str = "", error: GraderError | None = None, email: str = "") -> Page:
    offer = sign_up.offer(platform(), key)
    page = render_template("sign_up.html", offer=offer, key=key, name=name, error=error, email=email)
    return page, error.status if error else 200
