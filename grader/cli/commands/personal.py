"""`account`: readers of a profile, export of a person's data, and deletion of an account on the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, put_json, say, tell
from grader.errors import BadRequest
from grader.schemas.personal import DeletionBody, DeletionView
from grader.schemas.preferences import Preferences, ProfileAudience

app = make_app(remote=True)
account = make_app(remote=True)
app.add_typer(account, name="account", help="Set who reads your profile, export or delete an account.")

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="The account (default: your own; others': staff only).")
]


@account.command()
def readers(
    profile: Annotated[ProfileAudience | None, typer.Option(help="Who reads your profile.")] = None,
    calendar: Annotated[
        ProfileAudience | None, typer.Option(help="Who sees the days on which you submitted.")
    ] = None,
    kernels: Annotated[
        ProfileAudience | None,
        typer.Option(help="Who else that solved a challenge reads your best kernel for it."),
    ] = None,
    anonymous: Annotated[
        bool | None,
        typer.Option(
            "--anonymous/--named", help="Show a made-up name on boards and have no profile, or not."
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Show who reads your profile, your calendar and your kernels, or change that."""
    client, path = connect(), "/me/preferences"
    chosen = {"profile": profile, "calendar": calendar, "kernels": kernels, "anonymous": anonymous}
    body = {name: value for name, value in chosen.items() if value is not None}
    found = understood(Preferences, client.patch(path, body) if body else client.get(path))
    if json:
        put_json(found)
        return 0
    tell(f"profile: {found.profile.value}, calendar: {found.calendar.value}, kernels: {found.kernels.value}")
    tell("boards show a made-up name" if found.anonymous else "boards show your name")
    return 0


@account.command()
def export(
    name: Name = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="The file to write (default: NAME.zip).")
    ] = None,
    json: options.Json = False,
) -> int:
    """Write all data about a person to a ZIP: JSON, sources, reports."""
    file = to or Path(f"{name or 'account'}.zip")
    if file.exists():
        raise BadRequest(f"{file} already exists.", "Name another file with --to.")
    size = connect().download(f"{_at(name)}/export", file)
    if json:
        put_json({"file": str(file), "bytes": size})
    else:
        say(f"Wrote {file} ({size:,} bytes).", "green")
    return 0


@account.command()
def delete(
    name: Name = None,
    confirm: Annotated[
        str | None,
        typer.Option("--confirm", metavar="NAME", help="The account's name, to confirm the deletion."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep an account whose deletion was requested.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show what deleting an account removes and keeps; with --confirm, delete it after the grace period."""
    if keep and confirm is not None:
        raise BadRequest("--keep and --confirm exclude each other.", "Use one of them.")
    if keep:
        kept = understood(DeletionView, connect().delete(f"{_at(name)}/deletion"))
        if json:
            put_json(kept)
        else:
            say(f"{kept.name} stays.", "green")
        return 0
    if confirm is None:
        found = understood(DeletionView, connect().get(f"{_at(name)}/deletion"))
    else:
        body = DeletionBody(confirm=confirm).model_dump()
        found = understood(DeletionView, connect().post(f"{_at(name)}/deletion", body))
    if json:
        put_json(found)
        return 0
    _show(found)
    if confirm is None and found.due_at is None:
        say(f"To delete it: grader account delete {found.name} --confirm {found.name}", "dim")
    return 0


def _at(name: str | None) -> str:
    return "/me" if name is None else f"/people/{segment(name)}"


def _show(found: DeletionView) -> None:
    for title, lines in (("Removed", found.removed), ("Stays", found.stays)):
        say(f"{title}:", "bold")
        for line in lines:
            tell(f"  {line}")
    if found.due_at is not None:
        say(f"{found.name} will be deleted on {moment(found.due_at)}.", "yellow")
        say("To keep it: grader account delete --keep", "dim")
