"""`completion`: what makes Tab complete commands, options, challenges and submissions."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import PurePath
from typing import Annotated, Literal

import typer

from grader.cli import catalogue
from grader.cli.command import make_app
from grader.cli.terminal import say
from grader.errors import GraderError

app = make_app()
Shell = Literal["bash", "zsh", "fish", "powershell"]
# Into files that the shell reads when they are needed: none starts any later.
_HOW = {
    "bash": "grader completion bash > ~/.local/share/bash-completion/completions/grader",
    "zsh": 'grader completion zsh > "${fpath[1]}/_grader"',
    "fish": "grader completion fish > ~/.config/fish/completions/grader.fish",
    "powershell": "grader completion powershell >> $PROFILE",
}


@app.command()
def completion(
    shell: Annotated[
        Shell | None, typer.Argument(metavar="[bash|zsh|fish|powershell]", help="Else the one you are in.")
    ] = None,
) -> int:
    """Print what makes a shell complete commands, challenges and submissions."""
    from grader.cli.completion.shells import SCRIPTS
    from grader.cli.completion.words import places

    chosen = shell or this_shell()
    with contextlib.suppress(GraderError):
        catalogue.refresh_names()
    sys.stdout.write(SCRIPTS[chosen](places()))
    sys.stdout.flush()
    if sys.stdout.isatty():
        say(f"To have it in every {chosen}: {_HOW[chosen]}", "bold")
    return 0


def this_shell() -> str:
    """By the variable that names a person's shell; Windows has none, and PowerShell."""
    told = PurePath(os.environ.get("SHELL", "")).name
    if told in _HOW:
        return told
    return "powershell" if sys.platform == "win32" else "bash"
