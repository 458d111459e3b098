"""`admin`: chores of who runs the platform, on its own machine. They work on the database, so they need no token."""

from __future__ import annotations

import typer

from grader.cli.maintenance import keeping, people, records


def register(admin: typer.Typer) -> None:
    """Put every chore into ``admin``."""
    for chores in (keeping, records, people):
        chores.register(admin)
