"""`user`: accounts of the platform on this machine (it writes to the database, so it needs no token)."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.terminal import put_json, say, tell

if TYPE_CHECKING:
    from grader.service.platform import Platform

app = make_app()
user = make_app()
app.add_typer(user, name="user", help="Manage accounts.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]
RoleName = Literal["student", "staff", "admin"]
RoleOption = Annotated[
    RoleName, typer.Option(help="Staff see every submission and report; admins also say who is staff.")
]


@contextmanager
def opened() -> Iterator[Platform]:
    """The platform of this machine's settings."""
    from grader.cli.configuration import load_settings
    from grader.service.platform import open_platform

    platform = open_platform(load_settings())
    try:
        yield platform
    finally:
        platform.close()


@user.command()
def add(
    name: Name,
    role: RoleOption = "student",
    email: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where links are mailed to.")] = None,
    password_stdin: options.PasswordStdin = False,
    json: options.Json = False,
) -> int:
    """Make an account; without --password-stdin a password is made up and printed this once."""
    from grader.schemas.account import Role
    from grader.service import addresses
    from grader.service.accounts import create_user

    password = options.read_password(True, "") if password_stdin else made_up_password()
    with opened() as platform:
        made = create_user(platform, name, password, Role(role), addresses.tidy(email) if email else None)
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
    name: Name,
    password_stdin: options.PasswordStdin = False,
    json: options.Json = False,
) -> int:
    """Set a new password and end all sessions and tokens; without --password-stdin one is made up and printed."""
    from grader.service.accounts import set_password

    new = options.read_password(True, "") if password_stdin else made_up_password()
    with opened() as platform:
        changed = set_password(platform, name, new)
    shown = None if password_stdin else new
    if json:
        put_json({"name": changed.name, "password": shown})
        return 0
    say(f"'{changed.name}' has a new password, and is signed out everywhere.", "green")
    if shown is not None:
        say("It is shown this once:", "dim")
        tell(shown)
    return 0


@user.command()
def invite(
    label: Annotated[str, typer.Option("--for", metavar="TEXT", help="A course, a group.")] = "",
    uses: Annotated[int, typer.Option(min=1, max=1000, help="Accounts that it is good for.")] = 1,
    days: Annotated[int, typer.Option(min=1, max=180, help="How long it lives.")] = 14,
    role: RoleOption = "student",
    json: options.Json = False,
) -> int:
    """Print a link with which so many people can make an account."""
    from grader.schemas.account import InvitationBody
    from grader.service import invitations

    body = InvitationBody(label=label, role=role, uses=uses, days=days)
    with opened() as platform:
        made = invitations.make(platform, body)
    if json:
        put_json(made)
        return 0
    accounts = "one account" if uses == 1 else f"{uses} accounts"
    say(f"Good for {accounts} ({role}) until {made.expires_at:%Y-%m-%d}:", "dim")
    tell(made.link)
    return 0


@user.command()
def reset(name: Name, json: options.Json = False) -> int:
    """Print a link that lets NAME set a new password, once, within an hour."""
    from grader.service import links, resets

    with opened() as platform:
        link = resets.make_link(platform, name)
        address = link.at(links.base_url(platform.settings))
    if json:
        put_json({"name": name, "link": address, "expires_at": link.expires_at.isoformat()})
        return 0
    say(f"Sets a new password of '{name}', once, until {link.expires_at:%Y-%m-%d %H:%M} UTC:", "dim")
    tell(address)
    return 0


@user.command()
def bootstrap(json: options.Json = False) -> int:
    """Print a link that makes the first admin, once; only while nobody is staff."""
    from grader.service import first_admin, links

    with opened() as platform:
        link = first_admin.make_link(platform)
        address = link.at(links.base_url(platform.settings))
    if json:
        put_json({"link": address, "expires_at": link.expires_at.isoformat()})
        return 0
    say(f"Makes the first admin, once, until {link.expires_at:%Y-%m-%d %H:%M} UTC:", "dim")
    tell(address)
    return 0


@user.command()
def invitations(
    revoke: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="End the one of that number.")
    ] = None,
    json: options.Json = False,
) -> int:
    """List invitations that can still be used, or end one."""
    from grader.service import invitations as kept

    with opened() as platform:
        if revoke is not None:
            kept.revoke(platform, revoke)
        found = kept.list_all(platform)
    if json:
        put_json(found)
        return 0
    for each in found.invitations:
        about = f"{each.label or '-'}, {each.role}, {each.used} of {each.uses} used"
        tell(f"{each.id}  {about}, until {each.expires_at:%Y-%m-%d}")
    if not found.invitations:
        say("There is none.", "dim")
    return 0


@user.command()
def role(
    name: Name,
    role: Annotated[
        RoleName, typer.Argument(metavar="student|staff|admin", help="The role to have from now on.")
    ],
    json: options.Json = False,
) -> int:
    """Make NAME a student, staff or an admin."""
    from grader.schemas.account import Role
    from grader.service import people

    with opened() as platform:
        changed = people.set_role(platform, name, Role(role))
    if json:
        put_json({"name": changed.name, "role": changed.role.value})
        return 0
    say(f"'{changed.name}' is {changed.role.value} now.", "green")
    return 0


@user.command()
def email(
    name: Name,
    address: Annotated[str | None, typer.Argument(metavar="[ADDRESS]", help="None: take it away.")] = None,
    json: options.Json = False,
) -> int:
    """Set the e-mail address of NAME, believed without a proof."""
    from grader.service import addresses

    with opened() as platform:
        changed = addresses.set_address(platform, name, address)
        now = addresses.address_of(platform, changed)
    if json:
        put_json({"name": changed.name, "email": now})
        return 0
    say(f"'{changed.name}' has the address {now}." if now else f"'{changed.name}' has no address.", "green")
    return 0


@user.command(name="list")
def list_users(json: options.Json = False) -> int:
    """List all accounts."""
    from grader.service import people

    with opened() as platform:
        found = people.list_people(platform)
    if json:
        put_json(found)
        return 0
    for each in found.people:
        tell(f"{each.name}  {each.role}  {each.email or '-'}  since {each.created_at:%Y-%m-%d}")
    return 0


def made_up_password() -> str:
    """A password that nobody guesses: 16 characters, some 96 random bits."""
    return secrets.token_urlsafe(12)
