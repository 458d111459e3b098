"""`watch`: a submission from now to its end, and its report."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import options
from grader.cli.client import connect
from grader.cli.command import make_app
from grader.cli.follow import fetch_last, to_the_end

app = make_app()


@app.command()
def watch(
    submission: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The submission; else your latest.")
    ] = None,
    timeout: options.Timeout = 0.0,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON line for each change; the last holds the report.")
    ] = False,
    server: options.Server = None,
) -> int:
    """Follow a submission to its end and print its report."""
    client = connect()
    chosen = submission or fetch_last(client).id
    return to_the_end(client, chosen, timeout, json="lines" if json else "")
