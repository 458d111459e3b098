"""`admin forget`: a person who wants to be forgotten."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import options
from grader.cli.maintenance.place import here
from grader.cli.terminal import put_json, say, tell
from grader.errors import BadRequest


def register(admin: typer.Typer) -> None:
    admin.command()(forget)


def forget(
    name: Annotated[str, typer.Argument(metavar="USER", help="The account's name.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it: there is no way back.")] = False,
    json: options.Json = False,
) -> int:
    """Remove a person: name, address, tokens, sources, reports. Boards keep their times, under a made-up name."""
    from grader.service.forget import forget as remove

    if not yes:
        raise BadRequest(f"'{name}' would be forgotten, for good.", "--yes does it.")
    with here() as platform:
        done = remove(platform, name)
    if json:
        put_json(done)
        return 0
    tell(f"Forgotten. Boards name '{done.name}' for {done.submissions} submissions.", "green")
    say("Backups from before still hold what was theirs, and so do logs (ids alone).", "dim")
    return 0
