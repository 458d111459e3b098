"""`sandbox`: the image of Docker boxes."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli.command import make_app
from grader.cli.terminal import say, tell
from grader.errors import BadRequest

app = make_app()
sandbox = make_app()
app.add_typer(sandbox, name="sandbox", help="Manage the box image.")


@sandbox.command()
def build(
    from_host: Annotated[
        bool,
        typer.Option(
            "--from-host", help="Empty folders, over which this machine's toolchain is bound read-only."
        ),
    ] = False,
) -> int:
    """Make the image that Docker boxes start from. Asks no registry."""
    if not from_host:
        raise BadRequest("From what should the image be made?", "There is one way so far: --from-host.")
    from grader.sandbox.image import build_from_host

    tag = build_from_host()
    say("The box image is ready.", "green")
    tell(tag)
    return 0
