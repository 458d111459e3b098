"""`login`, `logout`: a token of the server, kept in a file that only its owner may read."""

from __future__ import annotations

import platform
import sys
from typing import Annotated

import typer

from grader.cli import config, options
from grader.cli import login as kept
from grader.cli.answers import understood
from grader.cli.browser import allowed
from grader.cli.client import Client, connect
from grader.cli.command import make_app
from grader.cli.terminal import say
from grader.errors import BadRequest, NotFound, NotSignedIn, Unreachable
from grader.schemas.token import USUAL_SCOPES, DeviceCodeBody, Scope, TokenBody, TokenView

app = make_app()

_LABEL_CHARS = 64


@app.command()
def login(
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The server's address.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", metavar="NAME", help="Your user name; then by password.")
    ] = None,
    scope: Annotated[
        str,
        typer.Option(
            "--scope",
            metavar="LIST",
            help="What the token may do, with commas between: read, submit, staff.",
        ),
    ] = ",".join(USUAL_SCOPES),
    days: Annotated[
        int | None,
        typer.Option("--days", metavar="N", min=1, help="How long the token lives; else as long as it may."),
    ] = None,
    password: Annotated[
        bool, typer.Option("--password", help="Ask for name and password here, not in a browser.")
    ] = False,
    browser: Annotated[
        bool | None, typer.Option("--browser/--no-browser", help="Open the page, or only print its address.")
    ] = None,
    password_stdin: options.PasswordStdin = False,
) -> int:
    """Sign in to a server and keep a token for it.

    It shows a code, which you type into a page of the server where you are signed in. With --name or --password it asks
    for a password instead.
    """
    client = Client(server or kept.server())
    scopes = _read_scopes(scope)
    label = f"cli on {platform.node()}"[:_LABEL_CHARS]
    if name is None and not password and not password_stdin:
        view = _by_code(client, DeviceCodeBody(label=label, scopes=scopes, days=days), allowed(browser))
        if view is not None:
            return _keep(client, view)
        say("This server knows no sign-in by code: it takes name and password.", "dim")
    user = name or _ask_name()
    secret = options.read_password(password_stdin, f"Password of {user}")
    body = TokenBody(name=user, password=secret, label=label, days=days, scopes=scopes)
    sent = body.model_dump(exclude_none=True, mode="json")
    return _keep(client, understood(TokenView, client.post("/tokens", sent)))


@app.command()
def logout() -> int:
    """Revoke the kept token and forget it."""
    revoked = True
    try:
        if kept.token():
            connect().delete("/tokens/current")
    except (Unreachable, NotSignedIn) as error:
        revoked = isinstance(error, NotSignedIn)
        if not revoked:
            say(f"{error.message} The token is forgotten here, but the server still takes it.", "yellow")
    say("Signed out." if kept.forget() else "Nobody was signed in.")
    return 0


def _by_code(client: Client, body: DeviceCodeBody, browser: bool) -> TokenView | None:
    """By a code on a page; None where the server is too old for that."""
    from grader.cli import device

    try:
        return device.sign_in(client, body, browser)
    except NotFound:
        return None


def _keep(client: Client, view: TokenView) -> int:
    kept.keep(client.server, view.user, view.token)
    may = f" It may: {', '.join(view.scopes)}." if view.scopes else ""
    say(
        f"Signed in to {client.server} as {view.user} ({view.role}). The token is kept in {kept.path()} "
        f"and good until {view.expires_at:%Y-%m-%d}.{may}",
        "green",
    )
    if kept.server() != client.server:
        say(f"{config.find('server').place} names another server: {kept.server()}.", "yellow")
    return 0


def _read_scopes(text: str) -> list[Scope]:
    names = [part.strip() for part in text.replace(" ", ",").split(",") if part.strip()]
    known = [scope.value for scope in Scope]
    if not names or any(name not in known for name in names):
        raise BadRequest(f"'{text}' is no list of scopes.", f"There are: {', '.join(known)}.")
    return [Scope(name) for name in dict.fromkeys(names)]


def _ask_name() -> str:
    if not sys.stdin.isatty():
        raise BadRequest("There is no terminal to ask for a name.", "Give it with --name.")
    return str(typer.prompt("Name", err=True))
