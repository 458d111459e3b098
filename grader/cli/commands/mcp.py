"""`mcp`: the platform's tools for coding agents."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.terminal import say
from grader.errors import EXIT_ACCEPTED

app = make_app()


@app.command()
def mcp(
    box: Annotated[
        Literal["local", "bubblewrap", "docker"],
        typer.Option(
            help="For profiles on this machine. local: a plain process; the others isolate the code."
        ),
    ] = "local",
    server: options.Server = None,
) -> int:
    """Serve coding agents over MCP on stdin and stdout: list, show, run, profile, submit, compare."""
    # Late: the package takes half a second, and is missing without the extra.
    from grader.cli.agent_tools import serve

    if sys.stdin.isatty():
        say(
            "Serving MCP on stdin and stdout: a coding agent's client starts this command. Ctrl-D ends it.",
            "dim",
        )
    serve(box)
    return EXIT_ACCEPTED
