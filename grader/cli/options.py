"""Shared arguments and options, and readers of their values."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from grader import formats, limits
from grader.cli import config
from grader.errors import BadRequest, BadSource
from grader.languages import Language

_ENDINGS = ", ".join(f"{language.suffix} is {language.display_name}" for language in Language)
_NAMES = "|".join(language.value for language in Language)
_TITLES = " or ".join(language.display_name for language in Language)
_CHECKED = " and ".join(language.display_name for language in Language if language.python)

Slug = Annotated[
    str, typer.Argument(metavar="SLUG", help="The challenge's slug, as `grader challenges` lists it.")
]
Challenge = Annotated[
    str | None,
    typer.Option("--challenge", "-c", metavar="SLUG", help="The challenge (default: by the file's name)."),
]
Submission = Annotated[
    str, typer.Argument(metavar="ID", help="The submission, as `grader submit` printed it.")
]
File = Annotated[Path, typer.Argument(metavar="FILE", help=f"The source file: {_ENDINGS}.")]
LanguageOption = Annotated[str | None, typer.Option("--language", "-l", metavar=_NAMES, help=f"{_TITLES}.")]
Device = Annotated[str | None, typer.Option("--device", "-d", metavar="NAME", help="The device to use.")]
Check = Annotated[
    bool,
    typer.Option(
        "--check/--no-check",
        help=f"Check {_CHECKED} sources for syntax errors before they are sent.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print only the answer, as JSON, on stdout.")]
Bom = Annotated[
    bool,
    typer.Option("--bom", help="Begin the CSV with a byte order mark, so spreadsheets read it as UTF-8."),
]
Timeout = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=0, help="Wait at most this long; 0: no limit."),
]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of stdin.")
]


def _choose_server(value: str | None) -> str | None:
    if value:
        config.choose("server", value)
    return value


# The callback keeps the value for ``login.server``.
Server = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", callback=_choose_server, help="The server for this command."),
]


def read_source(path: Path) -> str:
    """Raises BadRequest, or BadSource naming the file."""
    from grader.challenge.source import decode

    raw = read_bytes(path)
    if len(raw) > limits.SOURCE_BYTES:
        raise BadSource(
            f"{path}: The source is larger than {limits.SOURCE_BYTES:,} bytes.",
            "Leave out data and generated tables.",
        )
    try:
        return decode(raw)
    except BadSource as error:
        raise BadSource(f"{path}: {error.message}", error.hint) from error


def read_bytes(path: Path) -> bytes:
    """Reads at most one byte more than a source may have. Raises BadRequest."""
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
    from grader.challenge.source import language_of

    return None if name is None else language_of("", name)


def read_password(from_stdin: bool, prompt: str, confirm: bool = False) -> str:
    """From stdin, or a prompt without an echo. Raises BadRequest for an empty one."""
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    elif sys.stdin.isatty():
        password = str(typer.prompt(prompt, hide_input=True, confirmation_prompt=confirm, err=True))
    else:
        raise BadRequest("There is no terminal to ask for a password.", "Pipe it in with --password-stdin.")
    if not password:
        raise BadRequest("The password is empty.")
    return password


_SHOWN_CHARS = 120


def syntax_error(source: str, language: Language) -> str:
    """ "" if it parses, or only a compiler can tell."""
    if not language.python:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        return _described(error, source)
    except (ValueError, RecursionError, MemoryError):
        return ""
    return ""


def check_syntax(name: str, source: str, language: Language) -> None:
    """Raises BadSource, also for another language."""
    wrong, other = syntax_error(source, language), looks_like(source, language)
    if other and (wrong or not language.python):
        problem = wrong or f"This is not {language.display_name}."
        raise BadSource(f"{name}: {problem}", f"Nothing was sent. {other}")
    if wrong:
        version = ".".join(map(str, sys.version_info[:2]))
        raise BadSource(
            f"{name}: {wrong}",
            f"Nothing was sent. If the server runs a newer Python than {version}, --no-check of the command sends "
            "it anyway.",
        )


def looks_like(source: str, language: Language) -> str:
    """A hint if it is clearly another language, or ""."""
    if language.begins_in(source):
        return ""
    other = next((candidate for candidate in Language if candidate.begins_in(source)), None)
    if other is None:
        return ""
    return (
        f"It looks like {other.display_name}: end the file's name in {other.suffix}, or say "
        f"--language {other.value}."
    )


def _described(error: SyntaxError, source: str) -> str:
    number, column = error.lineno or 0, error.offset or 0
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # as Python counts them
    if not 1 <= number <= len(lines):
        return f"{type(error).__name__}: {error.msg}"
    described = f"{type(error).__name__} in line {number}: {error.msg}"
    line = lines[number - 1]
    if len(line) > _SHOWN_CHARS:
        return described
    # The caret is below its character at any tab width.
    before = "".join(char if char == "\t" else " " for char in line[: max(column - 1, 0)])
    return f"{described}\n    {line}\n    {before}^"


def seconds(option: str, value: str | None) -> float | None:
    """Of ``90``, ``90s``, ``55m`` or ``2h``. Raises BadRequest."""
    if value is None:
        return None
    found = formats.seconds_of(value)
    if not found:
        raise BadRequest(f"{option}: '{value}' is not a time.", "Write seconds, or 55m, or 2h.")
    return found
