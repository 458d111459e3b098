from __future__ import annotations

import hmac
import time
from typing import Any

from flask import Blueprint, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from grader import limits
from grader.errors import GraderError, SignOnFailed, Unreachable
from grader.service.accounts import accounts, oidc, sign_on
from grader.service.accounts.oidc import Person
from grader.service.accounts.sign_on import Policy
from grader.web import throttle
from grader.web.access import ANYONE, SIGNED_IN, open_to
from grader.web.auth import sessions
from grader.web.auth.identity import current_user, viewer
from grader.web.auth.redirects import safe_path
from grader.web.current import platform
from grader.web.pages.account import account_page
from grader.web.pages.keys import Page, private
from grader.web.pages.sign_in import sign_in_page

pages = Blueprint("sign_on", __name__)

# In the signed cookie: pending sign-ins, and what may be connected.
_BEGUN, _CONNECT = "sign_on", "connect"
_SECONDS = 60 * limits.SIGN_ON_MINUTES


@pages.get("/sign-in/with/<provider>")
@open_to(ANYONE)
def begin(provider: str) -> Response | Page:
    """Redirect to the provider; a signed-in user goes there only to connect it to the account."""
    wanted = safe_path(request.args.get("next"))
    user = viewer()
    connects = user is not None and _may_connect(provider, user.id)
    if user is not None and not connects:
        return redirect(wanted)
    throttle.count_sign_on()
    try:
        begun = oidc.begin(platform().settings, provider)
    except (SignOnFailed, Unreachable) as error:
        return account_page(error) if connects else sign_in_page(error, wanted)
    known = {key: entry for key, entry in session.get(_BEGUN, {}).items() if _is_fresh(entry)}
    newest = sorted(known.items(), key=lambda pair: float(pair[1]["at"]))[1 - limits.SIGN_ONS_AT_ONCE :]
    session[_BEGUN] = dict(newest) | {
        begun.state: {
            "provider": provider,
            "nonce": begun.nonce,
            "verifier": begun.verifier,
            "next": wanted,
            "user": user.id if connects and user is not None else None,
            "at": time.time(),
        }
    }
    return redirect(begun.url)


@pages.get("/sign-in/with/<provider>/back")
@open_to(ANYONE)
def back(provider: str) -> Response | Page:
    """Where the provider sends people back: signs them in, or connects it to the account."""
    throttle.count_sign_on()
    begun = _take(request.args.get("state", ""), provider)
    wanted = safe_path(begun["next"] if begun else None)
    user = viewer()
    try:
        if begun is None:
            raise SignOnFailed(
                "This sign-in did not begin in this browser, or too long ago.",
                "Start again here. Does the browser accept this site's cookies?",
            )
        person = oidc.finish(
            platform().settings, provider, request.args, str(begun["nonce"]), str(begun["verifier"])
        )
        if begun["user"] is not None:
            return _connect(int(begun["user"]), person)
        signed_in = sign_on.enter(platform(), person, policy(provider))
    except GraderError as error:
        if begun is not None and begun["user"] is not None and user is not None:
            return private(account_page(error))
        return private(sign_in_page(error, wanted))
    sessions.begin(signed_in)
    return redirect(wanted, 303)


@pages.post("/account/connect/<provider>")
@open_to(SIGNED_IN)
def ask_to_connect(provider: str) -> Response | Page:
    """Connect a provider; needs the password. Leads to a page with a link, because a form must not redirect to
    another site."""
    user = current_user()
    label = oidc.label(platform().settings, provider) if oidc.provider(platform().settings, provider) else ""
    try:
        with throttle.password_try(user.name):
            accounts.check_password(platform(), user, request.form.get("present", ""))
    except GraderError as error:
        return account_page(error)
    session[_CONNECT] = {"provider": provider, "user": user.id, "at": time.time()}
    return private((render_template("connect.html", provider=provider, label=label), 200))


@pages.post("/account/identities/<int:number>/disconnect")
@open_to(SIGNED_IN)
def disconnect(number: int) -> Response | Page:
    """Disconnect a provider; needs the password, so one remains to sign in with."""
    user = current_user()
    try:
        with throttle.password_try(user.name):
            sign_on.disconnect(platform(), user, number, request.form.get("present", ""))
    except GraderError as error:
        return account_page(error)
    return redirect(url_for("account.show"), 303)


def policy(provider: str) -> Policy:
    found = oidc.provider(platform().settings, provider)
    return Policy(found.accounts, tuple(found.domain_list))


def _connect(whose: int, person: Person) -> Response:
    user = viewer()
    if user is None or user.id != whose:
        raise SignOnFailed(
            "You are no longer signed in to the account to connect.", "Sign in and start again."
        )
    sign_on.connect(platform(), user, person)
    session.pop(_CONNECT, None)
    return redirect(url_for("account.show", saved=1), 303)


def _may_connect(provider: str, user: int) -> bool:
    asked = session.get(_CONNECT)
    return bool(asked and asked["provider"] == provider and asked["user"] == user and _is_fresh(asked))


def _take(state: str, provider: str) -> dict[str, Any] | None:
    """Ends the pending sign-in."""
    begun = dict(session.get(_BEGUN, {}))
    found = next((key for key in begun if hmac.compare_digest(key.encode(), state.encode())), None)
    if found is None:
        return None
    taken: dict[str, Any] = begun.pop(found)
    session[_BEGUN] = begun
    return taken if taken["provider"] == provider and _is_fresh(taken) else None


def _is_fresh(begun: dict[str, Any]) -> bool:
    return 0 <= time.time() - float(begun["at"]) <= _SECONDS
