"""`login`, `logout`: a token of the server, kept in a file that only its owner may read."""

from __future__ import annotations

import platform
import sys
from typing import Annotated

import typer

from grader.cli import login as kept
from grader.cli import options
from grader.cli.answers import understood
from grader.cli.client import Client, connect
from grader.cli.command import make_app
from grader.cli.terminal import say
from grader.errors import BadRequest, NotSignedIn, Unreachable
from grader.schemas.token import TokenBody, TokenView

app = make_app()


@app.command()
def login(
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The server's address.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", "-n", metavar="NAME", help="Your user name.")] = None,
    days: Annotated[
        int | None,
        typer.Option("--days", metavar="N", min=1, help="How long the token lives; else as long as it may."),
    ] = None,
    password_stdin: options.PasswordStdin = False,
) -> int:
    """Sign in to a server and keep a token for it."""
    address = server or kept.server()
    client = Client(address)
    user = name or _ask_name()
    password = options.read_password(password_stdin, f"Password of {user}")
    body = TokenBody(name=user, password=password, label=f"cli on {platform.node()}"[:64], days=days)
    answer = understood(TokenView, client.post("/tokens", body.model_dump(exclude_none=True)))
    kept.keep(client.server, answer.user, answer.token)
    say(
        f"Signed in to {client.server} as {answer.user} ({answer.role}). The token is kept in {kept.path()} "
        f"and good until {answer.expires_at:%Y-%m-%d}.",
        "green",
    )
    return 0


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


def _ask_name() -> str:
    if not sys.stdin.isatty():
        raise BadRequest("There is no terminal to ask for a name.", "Give it with --name.")
    return str(typer.prompt("Name", err=True))
