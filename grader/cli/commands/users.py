"""`user`: accounts in the database of the platform on this machine. Needs no token."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.local_platform import here, made_up_password
from grader.cli.terminal import put_json, say, tell

app = make_app()
user = make_app()
app.add_typer(user, name="user", help="Manage accounts.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]
RoleName = Literal["student", "staff", "admin"]
RoleOption = Annotated[
    RoleName, typer.Option(help="Staff see every submission and report; admins also choose who is staff.")
]


@user.command()
def add(
    name: Name,
    role: RoleOption = "student",
    email: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The address that links are sent to.")
    ] = None,
    password_stdin: options.PasswordStdin = False,
    json: options.Json = False,
) -> int:
    """Create an account. Without --password-stdin a password is generated and shown once."""
    from grader.schemas.account import Role
    from grader.service.accounts import addresses
    from grader.service.accounts.accounts import create_user

    password = options.read_password(True, "") if password_stdin else made_up_password()
    with here() as platform:
        made = create_user(platform, name, password, Role(role), addresses.tidy(email) if email else None)
    shown = None if password_stdin else password
    if json:
        put_json({"name": made.name, "role": made.role.value, "password": shown})
        return 0
    say(f"Created {made.role.value} '{made.name}'.", "green")
    if shown is not None:
        say("The password, shown only now:", "dim")
        tell(shown)
    return 0


@user.command()
def password(
    name: Name,
    password_stdin: options.PasswordStdin = False,
    json: options.Json = False,
) -> int:
    """Set a new password, and end all sessions and tokens. Without --password-stdin it is generated and shown once."""
    from grader.service.accounts.accounts import set_password

    new = options.read_password(True, "") if password_stdin else made_up_password()
    with here() as platform:
        changed = set_password(platform, name, new)
    shown = None if password_stdin else new
    if json:
        put_json({"name": changed.name, "password": shown})
        return 0
    say(f"'{changed.name}' has a new password and is signed out everywhere.", "green")
    if shown is not None:
        say("The password, shown only now:", "dim")
        tell(shown)
    return 0


@user.command()
def invite(
    label: Annotated[
        str, typer.Option("--for", metavar="TEXT", help="A label, such as a course or a group.")
    ] = "",
    uses: Annotated[int, typer.Option(min=1, max=1000, help="How many accounts it can make.")] = 1,
    days: Annotated[int, typer.Option(min=1, max=180, help="How many days it is valid.")] = 14,
    role: RoleOption = "student",
    listed: Annotated[bool, typer.Option("--list", help="List invitations that can still be used.")] = False,
    revoke: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Revoke the invitation with this number.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Print a link that lets people create an account; list such invitations, or revoke one."""
    if listed or revoke is not None:
        return _put_invitations(revoke, json)
    from grader.schemas.account import InvitationBody
    from grader.service.accounts import invitations

    body = InvitationBody(label=label, role=role, uses=uses, days=days)
    with here() as platform:
        made = invitations.make(platform, body)
    if json:
        put_json(made)
        return 0
    accounts = "one account" if uses == 1 else f"{uses} accounts"
    say(f"For {accounts} ({role}), valid until {made.expires_at:%Y-%m-%d}:", "dim")
    tell(made.link)
    return 0


def _put_invitations(revoke: int | None, json: bool) -> int:
    from grader.service.accounts import invitations

    with here() as platform:
        if revoke is not None:
            invitations.revoke(platform, revoke)
        found = invitations.list_all(platform)
    if json:
        put_json(found)
        return 0
    for each in found.invitations:
        about = f"{each.label or '-'}, {each.role}, {each.used} of {each.uses} used"
        tell(f"{each.id}  {about}, until {each.expires_at:%Y-%m-%d}")
    if not found.invitations:
        say("There are no invitations.", "dim")
    return 0


@user.command()
def reset(name: Name, json: options.Json = False) -> int:
    """Print a link that lets NAME set a new password, once, within an hour."""
    from grader.service.accounts import links, resets

    with here() as platform:
        link = resets.make_link(platform, name)
        address = link.at(links.base_url(platform.settings))
    if json:
        put_json({"name": name, "link": address, "expires_at": link.expires_at.isoformat()})
        return 0
    say(f"For a new password of '{name}', once, valid until {link.expires_at:%Y-%m-%d %H:%M} UTC:", "dim")
    tell(address)
    return 0


@user.command()
def bootstrap(json: options.Json = False) -> int:
    """Print a link that creates the first admin, once. Works only while there are no staff."""
    from grader.service.accounts import first_admin, links

    with here() as platform:
        link = first_admin.make_link(platform)
        address = link.at(links.base_url(platform.settings))
    if json:
        put_json({"link": address, "expires_at": link.expires_at.isoformat()})
        return 0
    say(f"Creates the first admin, once, valid until {link.expires_at:%Y-%m-%d %H:%M} UTC:", "dim")
    tell(address)
    return 0


@user.command()
def role(
    name: Name,
    role: Annotated[RoleName, typer.Argument(metavar="student|staff|admin", help="The new role.")],
    json: options.Json = False,
) -> int:
    """Make NAME a student, staff or an admin."""
    from grader.schemas.account import Role
    from grader.service.accounts import people

    with here() as platform:
        changed = people.set_role(platform, name, Role(role))
    if json:
        put_json({"name": changed.name, "role": changed.role.value})
        return 0
    say(f"'{changed.name}' is {changed.role.value} now.", "green")
    return 0


@user.command()
def email(
    name: Name,
    address: Annotated[
        str | None, typer.Argument(metavar="[ADDRESS]", help="The address (default: remove it).")
    ] = None,
    json: options.Json = False,
) -> int:
    """Set the e-mail address of NAME, without checking that it is theirs."""
    from grader.service.accounts import addresses

    with here() as platform:
        changed = addresses.set_address(platform, name, address)
        now = addresses.address_of(platform, changed)
    if json:
        put_json({"name": changed.name, "email": now})
        return 0
    say(f"'{changed.name}' has the address {now}." if now else f"'{changed.name}' has no address.", "green")
    return 0


@user.command()
def identities(
    name: Name,
    remove: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Disconnect the identity with this number.")
    ] = None,
    json: options.Json = False,
) -> int:
    """List the other sites that sign NAME in, or disconnect one."""
    from grader.service.accounts import sign_on

    with here() as platform:
        if remove is not None:
            sign_on.remove(platform, name, remove)
        found = sign_on.identities_of(platform, name)
    if json:
        put_json({"name": name, "identities": [each.model_dump(mode="json") for each in found]})
        return 0
    for each in found:
        tell(
            f"{each.id}  {each.label}  {each.authority} calls them {each.subject}  since {each.created_at:%Y-%m-%d}"
        )
    if not found:
        say(f"Only their password signs '{name}' in.", "dim")
    return 0


@user.command(name="list")
def list_users(json: options.Json = False) -> int:
    """List all accounts."""
    from grader.service.accounts import people

    with here() as platform:
        found = people.list_people(platform)
    if json:
        put_json(found)
        return 0
    for each in found.people:
        tell(f"{each.name}  {each.role}  {each.email or '-'}  since {each.created_at:%Y-%m-%d}")
    return 0
