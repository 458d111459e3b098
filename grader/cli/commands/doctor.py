"""`doctor`: check this machine, with --security for running other people's code."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from grader.cli import options
from grader.cli.checks import as_dict, as_table
from grader.cli.command import make_app
from grader.cli.terminal import busy, put_json, put_table

app = make_app()


@app.command()
def doctor(
    security: Annotated[
        bool, Option("--security", help="Check how safe this host is for other people's code.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show what this machine can do, and how to fix the rest. The exit code is 0 even if parts are missing."""
    if security:
        from grader.cli.security_checks import security_findings as examine

        name = "checks"
    else:
        from grader.cli.machine_checks import machine_findings as examine

        name = "findings"
    with busy("Checking this machine"):
        found = examine()
    if json:
        put_json({name: [as_dict(each) for each in found]})
    else:
        put_table(as_table(found))
    return 0
