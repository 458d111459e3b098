from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from grader.errors import BadRequest, GraderError
from grader.schemas.budget import BudgetBody, GpuDay, Payer
from grader.schemas.preferences import PreferencesBody, ProfileAudience, Theme
from grader.service.accounts import accounts, addresses, oidc, preferences, sign_on, tokens
from grader.service.accounts.tokens import TokenKind
from grader.service.boards import readers
from grader.service.submissions import budgets
from grader.web import appearance, forms, throttle
from grader.web.access import OWNER, SIGNED_IN, open_to
from grader.web.auth import sessions
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages import plots
from grader.web.pages.client import install_command
from grader.web.pages.keys import Page, private, shown_key

pages = Blueprint("account", __name__)


@pages.get("/account")
@open_to(SIGNED_IN)
def show() -> str:
    """Your settings, sessions and tokens."""
    return account_page(None)[0]


@pages.post("/account/preferences")
@open_to(SIGNED_IN)
def change_preferences() -> Response:
    """Save look, editor and privacy. Browsers do not send unticked boxes."""
    chosen = _theme(request.form.get("theme", Theme.SYSTEM))
    body = PreferencesBody(
        theme=chosen,
        vim=forms.ticked("vim"),
        anonymous=forms.ticked("anonymous"),
        **{name: _audience(name) for name in ("profile", "calendar", "kernels") if name in request.form},
    )
    preferences.change(platform(), current_user(), body)
    response = redirect(url_for("account.show", saved=1), 303)
    appearance.remember(response, chosen)
    return response


@pages.post("/account/password")
@open_to(SIGNED_IN)
def change_password() -> Response | tuple[str, int]:
    """Change the password: every session and token ends, and this browser gets a new session."""
    user = current_user()
    try:
        with throttle.password_try(user.name):
            accounts.change_password(
                platform(), user, request.form.get("present", ""), request.form.get("new", "")
            )
    except GraderError as error:
        return account_page(error)
    sessions.begin(user)
    return redirect(url_for("account.show"), 303)


@pages.post("/account/email")
@open_to(SIGNED_IN)
def change_email() -> str | Response | tuple[str, int]:
    """Mail a link to a new address; an empty one removes the old. Needs the password, since the address's owner can
    reset it."""
    user = current_user()
    email = request.form.get("email", "").strip()
    try:
        _check(user, request.form.get("present", ""))
        if not email:
            addresses.forget(platform(), user)
            return redirect(url_for("account.show"), 303)
        addresses.ask_for_proof(platform(), user, email)
    except GraderError as error:
        return account_page(error)
    message = "If that address is free, a link is on its way to it: open it while you are signed in here."
    return render_template("message.html", title="E-mail address", message=message)


@pages.get("/account/email")
@open_to(SIGNED_IN, guard=False)
def confirm_email() -> Response:
    """The page of the mailed link: a button, because opening a link must change nothing."""
    if viewer() is None:
        return redirect(url_for("sign_in.form", next=request.full_path))
    return private((render_template("prove.html", key=shown_key()), 200))


@pages.post("/account/email/prove")
@open_to(SIGNED_IN)
def prove_email() -> Response:
    """Use the address whose link was opened."""
    addresses.prove(platform(), current_user(), shown_key())
    return redirect(url_for("account.show"), 303)


@pages.post("/account/tokens/<int:number>/revoke")
@open_to(OWNER)
def revoke(number: int) -> Response:
    """End one token or session."""
    tokens.revoke_own(platform(), current_user(), number)
    return redirect(url_for("account.show"), 303)


@pages.post("/account/tokens/<int:number>/budget")
@open_to(OWNER)
def limit_token(number: int) -> Response:
    """Set the GPU seconds that a token may use in a day; empty: any number."""
    given = request.form.get("day", "").strip()
    try:
        body = BudgetBody(day_s=float(given) if given else None)
    except ValueError as error:
        raise BadRequest(
            f"'{given[:20]}' is no number of seconds.", "Give one from 0, or leave it empty."
        ) from error
    budgets.set_budget(platform(), current_user(), Payer.TOKEN, str(number), body)
    return redirect(url_for("account.show", _anchor="tokens"), 303)


@pages.post("/account/sessions/end")
@open_to(SIGNED_IN)
def end_others() -> Response:
    """End all other sessions; tokens stay valid."""
    tokens.end_sessions(platform(), current_user(), session.get(sessions.TOKEN_KEY, ""))
    return redirect(url_for("account.show"), 303)


def _theme(name: str) -> Theme:
    try:
        return Theme(name)
    except ValueError as error:
        raise BadRequest("Unknown theme.", "Choose system, light or dark.") from error


def _bars(days: list[GpuDay]) -> list[tuple[float, GpuDay]]:
    """Left edge in percent of 30 days, today at the right."""
    today = datetime.now(UTC).date()
    return [(round((29 - (today - day.day).days) / 30 * 100, 2), day) for day in days]


def _audience(name: str) -> ProfileAudience:
    try:
        return ProfileAudience(request.form[name])
    except ValueError as error:
        raise BadRequest("Unknown choice.", "Choose public, members, course or private.") from error


def _check(user: accounts.User, password: str) -> None:
    with throttle.password_try(user.name):
        accounts.check_password(platform(), user, password)


def account_page(error: GraderError | None) -> Page:
    user = current_user()
    found = tokens.list_tokens(platform(), user, session.get(sessions.TOKEN_KEY, "")).tokens
    kept = [token for token in found if token.kind != TokenKind.SESSION]
    settings, gpu = platform().settings, budgets.own(platform(), user)
    page = render_template(
        "account.html",
        sessions=[each for each in found if each.kind == TokenKind.SESSION],
        tokens=kept,
        token_budgets=budgets.of_tokens(platform(), user, [token.id for token in kept]),
        gpu=gpu,
        gpu_axis=plots.linear(max([day.seconds for day in gpu.days] + [1.0]), lambda value: f"{value:g}"),
        gpu_bars=_bars(gpu.days),
        widest_profile=readers.widest_profile(platform()),
        audiences=list(ProfileAudience),
        email=addresses.address_of(platform(), user),
        identities=sign_on.identities(platform(), user),
        providers={entry: oidc.label(settings, entry) for entry in settings.oidc},
        install=install_command(),
        server=platform().settings.url or request.host_url.rstrip("/"),
        error=error,
        saved="saved" in request.args and error is None,
    )
    return page, error.status if error else 200
