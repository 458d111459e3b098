"""`user`: accounts of the platform on this machine (it writes to the database, so it needs no token)."""

from __future__ import annotations

import secrets
from typing import Annotated, Literal

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.terminal import put_json, say, tell

app = make_app()
user = make_app()
app.add_typer(user, name="user", help="Manage accounts.")


@user.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    role: Annotated[
        Literal["student", "staff"], typer.Option(help="Staff see every submission and report.")
    ] = "student",
    password_stdin: options.PasswordStdin = False,
    json: options.Json = False,
) -> int:
    """Make an account; without --password-stdin a password is made up and printed this once."""
    from grader.cli.configuration import load_settings
    from grader.service.accounts import Role, create_user
    from grader.service.platform import open_platform

    password = options.read_password(True, "") if password_stdin else made_up_password()
    platform = open_platform(load_settings())
    try:
        made = create_user(platform, name, password, Role(role))
    finally:
        platform.close()
    shown = None if password_stdin else password
    if json:
        put_json({"name": made.name, "role": made.role.value, "password": shown})
        return 0
    say(f"Made {made.role.value} '{made.name}'.", "green")
    if shown is not None:
        say("Its password, shown this once:", "dim")
        tell(shown)
    return 0


@user.command()
def password(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    password_stdin: options.PasswordStdin = False,
    json: options.Json = False,
) -> int:
    """Set a new password and end all sessions and tokens; without --password-stdin one is made up and printed."""
    from grader.cli.configuration import load_settings
    from grader.service.accounts import set_password
    from grader.service.platform import open_platform

    new = options.read_password(True, "") if password_stdin else made_up_password()
    platform = open_platform(load_settings())
    try:
        changed = set_password(platform, name, new)
    finally:
        platform.close()
    shown = None if password_stdin else new
    if json:
        put_json({"name": changed.name, "password": shown})
        return 0
    say(f"'{changed.name}' has a new password, and is signed out everywhere.", "green")
    if shown is not None:
        say("It is shown this once:", "dim")
        tell(shown)
    return 0


def made_up_password() -> str:
    """A password that nobody guesses: 16 characters, some 96 random bits."""
    return secrets.token_urlsafe(12)
