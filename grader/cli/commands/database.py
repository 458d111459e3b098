"""`db`: the database of the platform on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.terminal import put_json, say

app = make_app()
db = make_app()
app.add_typer(db, name="db", help="Manage the database.")


@db.command()
def upgrade(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    json: options.Json = False,
) -> int:
    """Bring the database to the present version; harmless when it is there already."""
    from grader.cli.maintenance.place import database
    from grader.records.dump import is_used
    from grader.records.migrate import upgrade as bring_up
    from grader.records.schema import missing_of

    with database() as (_, engine):
        missing = missing_of(engine)
        for step in missing:
            say(f"{'would do' if dry_run else 'doing'} {step.revision}: {step.about}", "dim")
        with engine.connect() as connection:
            used = is_used(connection)
        if missing and used:
            say("There is no way back but a backup: grader admin backup FILE.", "yellow")
        if missing and not dry_run:
            bring_up(engine)
        kind = engine.dialect.name
    if json:
        put_json({"database": kind, "done": not dry_run, "steps": [step.revision for step in missing]})
    elif not (dry_run and missing):
        say(f"The {kind} database is up to date.", "green")
    return 0
