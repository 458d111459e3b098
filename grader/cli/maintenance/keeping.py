"""`admin backup`, `admin restore` and `admin prune`: what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from grader.cli import options
from grader.cli.maintenance.place import database, here
from grader.cli.terminal import aside, put_json, say, tell

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]


def register(admin: typer.Typer) -> None:
    admin.command()(backup)
    admin.command()(restore)
    admin.command()(prune)


def backup(file: _File, json: options.Json = False) -> int:
    """Write database and secrets to one new file, while everything runs."""
    from grader.service.backup import backup as make

    with database() as (settings, engine), _progress() as told:
        manifest = make(settings, engine, file, told)
    if json:
        put_json({"file": str(file), "bytes": file.stat().st_size, **manifest.model_dump(mode="json")})
        return 0
    rows = sum(member.rows or 0 for member in manifest.members.values())
    tell(f"Wrote {file}: {rows} rows, {file.stat().st_size / 2**20:.1f} MiB.", "green")
    say("It holds sources, password hashes and secret keys: keep it as safe as the server.", "dim")
    return 0


def restore(
    file: _File,
    replace: Annotated[
        bool, typer.Option("--replace", help="In place of what is there, which is gone then.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Put a backup into an empty database, of either kind: all of it or nothing."""
    from grader.service.restore import restore as put_back

    with database() as (settings, engine), _progress() as told:
        manifest = put_back(settings, engine, file, replace, told)
    if json:
        put_json(manifest)
        return 0
    rows = sum(member.rows or 0 for member in manifest.members.values())
    tell(f"Restored {rows} rows of {manifest.created_at}.", "green")
    say("Start web and workers; what was being judged then is judged anew.", "dim")
    return 0


def prune(
    days: Annotated[
        int | None,
        typer.Option(
            "--older-than",
            metavar="DAYS",
            min=1,
            help="Also reports and artefacts of so long ago. (GRADER_RETENTION_DAYS)",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; else it is only said what would go.")] = False,
    json: options.Json = False,
) -> int:
    """Say what is no longer needed, and with --yes remove it. Never what a board stands on."""
    from grader.service.retention import prune as remove

    with here() as platform:
        done = remove(platform, days or platform.settings.retention_days or None, dry_run=not yes)
    if json:
        put_json(done)
        return 0
    counts = done.model_dump(exclude={"dry_run", "report_bytes"})
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    tell(f"{'Removed' if yes else 'Would remove'}: {told or 'nothing'}.")
    if done.report_bytes:
        say(f"The reports are {done.report_bytes / 2**20:.1f} MiB.", "dim")
    if not yes and told:
        say("--yes does it.", "dim")
    return 0


@contextmanager
def _progress() -> Iterator[Callable[[str, int], None]]:
    """On a terminal a line that moves; elsewhere a line for each table."""
    if not aside().is_terminal:
        seen: set[str] = set()

        def each(table: str, _rows: int) -> None:
            if table not in seen:
                seen.add(table)
                say(f"{table} ...", "dim")

        yield each
        return
    with aside().status("") as status:
        yield lambda table, rows: status.update(f"{table}: {rows} rows")
