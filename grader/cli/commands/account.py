"""`login`, `logout`: a token by a code (RFC 8628) or by password."""

from __future__ import annotations

import platform
import sys
import time
from typing import Annotated
from urllib.parse import urlsplit

import typer

from grader.cli import config, options
from grader.cli import login as kept
from grader.cli.browser import allowed, has_browser, open_page
from grader.cli.client import Client, connect, understood
from grader.cli.command import make_app
from grader.cli.polling import until_done
from grader.cli.terminal import say
from grader.errors import (
    AuthorizationPending,
    BadRequest,
    ExpiredToken,
    NotFound,
    NotSignedIn,
    SlowDown,
    TooMany,
    Unreachable,
)
from grader.formats import wait
from grader.schemas.token import USUAL_SCOPES, DeviceCode, DeviceCodeBody, Scope, TokenBody, TokenView

app = make_app()

_LABEL_CHARS = 64


@app.command()
def login(
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The server's address.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", "-n", metavar="NAME", help="Your user name; asks for its password."),
    ] = None,
    scope: Annotated[
        str,
        typer.Option(
            "--scope",
            metavar="LIST",
            help="What the token allows, separated by commas: read, submit, account, staff.",
        ),
    ] = ",".join(USUAL_SCOPES),
    days: Annotated[
        int | None,
        typer.Option(
            "--days",
            metavar="N",
            min=1,
            help="How many days the token is valid (default: as long as the server allows).",
        ),
    ] = None,
    per_day: Annotated[
        int | None,
        typer.Option(
            "--per-day",
            metavar="N",
            min=1,
            help="How many submissions and runs the token may make in 24 hours (default: as your account).",
        ),
    ] = None,
    at_once: Annotated[
        int | None,
        typer.Option(
            "--at-once",
            metavar="N",
            min=1,
            help="How many of them may wait or run at once (default: as your account).",
        ),
    ] = None,
    password: Annotated[
        bool, typer.Option("--password", help="Ask for name and password here instead of showing a code.")
    ] = False,
    password_stdin: options.PasswordStdin = False,
) -> int:
    """Sign in to a server and keep a token for it.

    It shows a code that you enter on a page of the server. With --name or --password it asks for a password instead.
    """
    client = Client(server or kept.server())
    scopes = _read_scopes(scope)
    label = f"cli on {platform.node()}"[:_LABEL_CHARS]
    if name is None and not password and not password_stdin:
        asked = DeviceCodeBody(label=label, scopes=scopes, days=days, per_day=per_day, at_once=at_once)
        return _keep(client, sign_in(client, asked))
    user = name or _ask_name()
    secret = options.read_password(password_stdin, f"Password of {user}")
    body = TokenBody(
        name=user,
        password=secret,
        label=label,
        days=days,
        scopes=scopes,
        per_day=per_day,
        at_once=at_once,
    )
    sent = body.model_dump(exclude_none=True, mode="json")
    return _keep(client, understood(TokenView, client.post("/tokens", sent)))


@app.command()
def logout() -> int:
    """Revoke the kept token and delete it here."""
    revoked = True
    try:
        if kept.token():
            connect().delete("/tokens/current")
    except (Unreachable, NotSignedIn) as error:
        revoked = isinstance(error, NotSignedIn)
        if not revoked:
            say(f"{error.message} The token is deleted here, but the server still accepts it.", "yellow")
    say("Signed out." if kept.forget() else "You were not signed in.")
    return 0


def _keep(client: Client, view: TokenView) -> int:
    kept.keep(client.server, view.user, view.token)
    allows = f" It allows: {', '.join(view.scopes)}." if view.scopes else ""
    say(
        f"Signed in to {client.server} as {view.user} ({view.role}). The token is in {kept.path()} "
        f"and valid until {view.expires_at:%Y-%m-%d}.{allows}",
        "green",
    )
    if kept.server() != client.server:
        say(f"{config.find('server').place} names another server: {kept.server()}.", "yellow")
    return 0


def _read_scopes(text: str) -> list[Scope]:
    names = [part.strip() for part in text.replace(" ", ",").split(",") if part.strip()]
    known = [scope.value for scope in Scope]
    if not names or any(name not in known for name in names):
        raise BadRequest(f"'{text}' is not a list of scopes.", f"The scopes are: {', '.join(known)}.")
    return [Scope(name) for name in dict.fromkeys(names)]


def _ask_name() -> str:
    if not sys.stdin.isatty():
        raise BadRequest("There is no terminal to ask for your name.", "Give it with --name.")
    return str(typer.prompt("Name", err=True))


# slow_down adds this to the interval (RFC 8628, section 3.5).
SLOWER_SECONDS = 5
_MIN_SECONDS, _MAX_SECONDS = 1, 60


def sign_in(client: Client, body: DeviceCodeBody) -> TokenView:
    """Raises AccessDenied, ExpiredToken."""
    code = understood(
        DeviceCode, client.post("/device-codes", body.model_dump(exclude_none=True, mode="json"))
    )
    page = _page(client, code.verification_uri)
    say(f"Open {page} and enter this code:")
    say(f"    {code.user_code}", "bold")
    say("Never enter a code that somebody else gave you.", "dim")
    say(f"It is valid for {wait(code.expires_in)}. Waiting for your approval; Ctrl-C cancels.", "dim")
    if allowed() and has_browser() and not open_page(_page(client, code.verification_uri_complete)):
        say("No browser could be opened; the address above works in any.", "dim")
    return _wait(client, code)


def _wait(client: Client, code: DeviceCode) -> TokenView:
    interval = min(max(code.interval, _MIN_SECONDS), _MAX_SECONDS)
    late = ExpiredToken("Nobody approved the code in time.", "Get a new one: grader login")
    deadline = time.monotonic() + code.expires_in

    def ask() -> TokenView | None:
        nonlocal interval
        try:
            return understood(
                TokenView, client.post("/device-codes/token", {"device_code": code.device_code})
            )
        except AuthorizationPending:
            return None
        except (SlowDown, TooMany, Unreachable):  # a restarting server is back soon
            interval = min(interval + SLOWER_SECONDS, _MAX_SECONDS)
            return None

    def pause(view: TokenView | None) -> float | None:
        if view is not None:
            return None
        if time.monotonic() + interval >= deadline:
            raise late
        return interval

    if code.expires_in <= interval:
        raise late
    time.sleep(interval)
    try:
        view = until_done(ask, pause)
    except NotFound as error:
        raise Unreachable("The server no longer knows this sign-in.", "Try again: grader login") from error
    assert view is not None, "the wait ends only with a token"
    return view


def _page(client: Client, address: str) -> str:
    """A browser opens it, so it must be a web page."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Unreachable(f"{client.server} sent no page to open.", "Sign in with --password.")
    return address
