"""`db`: the database of the platform on this machine."""

from __future__ import annotations

from grader.cli.command import make_app
from grader.cli.terminal import say

app = make_app()
db = make_app()
app.add_typer(db, name="db", help="Manage the database.")


@db.command()
def upgrade() -> int:
    """Bring the database to the present version; harmless when it is there already."""
    from grader.cli.configuration import load_settings
    from grader.service.platform import open_platform

    platform = open_platform(load_settings(), migrate=True)
    try:
        say(f"The {platform.engine.dialect.name} database is up to date.", "green")
    finally:
        platform.close()
    return 0
