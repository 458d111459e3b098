"""Arguments and options that several commands share, and reading what they name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader import limits
from grader.cli import config
from grader.errors import BadRequest
from grader.languages import Language

_ENDINGS = ", ".join(f"{it.suffix} is {it.display_name}" for it in Language)
_NAMES = "|".join(it.value for it in Language)
_TITLES = " or ".join(it.display_name for it in Language)
_CHECKED = " and ".join(it.display_name for it in Language if it.python)

Slug = Annotated[
    str, typer.Argument(metavar="SLUG", help="The challenge's slug, as `grader challenges` lists it.")
]
Challenge = Annotated[
    str | None,
    typer.Option(
        "--challenge", "-c", metavar="SLUG", help="The challenge to solve; else the file's name tells it."
    ),
]
Submission = Annotated[
    str, typer.Argument(metavar="ID", help="The submission, as `grader submit` printed it.")
]
File = Annotated[Path, typer.Argument(metavar="FILE", help=f"The source file: {_ENDINGS}.")]
LanguageOption = Annotated[str | None, typer.Option("--language", "-l", metavar=_NAMES, help=f"{_TITLES}.")]
Device = Annotated[
    str | None, typer.Option("--device", "-d", metavar="NAME", help="The device whose board to use.")
]
Check = Annotated[
    bool,
    typer.Option(
        "--check/--no-check",
        help=f"Look for syntax errors in {_CHECKED} sources here, before anything is sent.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer alone on stdout, as JSON.")]
Timeout = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=0, help="Wait at most this long; 0 = until it ends."),
]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from stdin's first line.")
]


def _choose_server(value: str | None) -> str | None:
    if value:
        config.choose("server", value)
    return value


# Commands take it and need not pass it on: ``login.server`` hears of it.
Server = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", callback=_choose_server, help="The server to talk to, this once."
    ),
]


def read_source(path: Path) -> bytes:
    """The file's bytes, one more than are allowed at most. Raises BadRequest where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(limits.SOURCE_BYTES + 1)
    except FileNotFoundError as error:
        raise BadRequest(
            f"There is no file '{path}'.", "`grader init SLUG` writes a starter file."
        ) from error
    except OSError as error:
        raise BadRequest(f"'{path}' cannot be read: {error.strerror}.") from error


def language(name: str | None) -> Language | None:
    """The language of that name. Raises UnknownLanguage."""
    from grader.challenge.source import language_of

    return None if name is None else language_of("", name)


def read_password(from_stdin: bool, prompt: str, confirm: bool = False) -> str:
    """A password from stdin's first line, or asked for without an echo. Raises BadRequest on an empty one."""
    import sys

    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    elif sys.stdin.isatty():
        password = str(typer.prompt(prompt, hide_input=True, confirmation_prompt=confirm, err=True))
    else:
        raise BadRequest("There is no terminal to ask for a password.", "Pipe it in with --password-stdin.")
    if not password:
        raise BadRequest("The password is empty.")
    return password
