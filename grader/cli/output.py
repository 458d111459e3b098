"""Output without Rich, safe for a terminal."""

from __future__ import annotations

import codecs
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.errors import GraderError

ERRORS = "grader-plain"
EXIT_INTERRUPTED = 130
UNWRITTEN = "The output cannot be written: no space is left on the device."
# Equal widths keep columns aligned.
_PLAIN = {
    "✓": "+",
    "✗": "x",
    "·": ".",
    "▸": ">",
    "█": "#",
    "░": ".",
    "├": "[",
    "┤": "]",
    "┼": "|",
    "─": "-",
    "━": "=",
    "µ": "u",
    "±": "+-",
    "°": "",
    "–": "-",
    "—": "-",
    "…": "...",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
}


def report(error: GraderError, args: Sequence[str]) -> int:
    """Returns the exit code. With --json, the error is on stdout, too."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()
    bold, dim, plain = ("\033[1;31m", "\033[2m", "\033[0m") if _coloured() else ("", "", "")
    print(f"{bold}error:{plain} {printable(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"{dim}hint:{plain}  {printable(error.hint)}", file=sys.stderr)
    if "--json" in args:
        import json  # json doubles the import time of `grader --help`

        print(json.dumps({"error": error.as_dict()}))
    return error.exit_code


# Joiners in Persian and Indic names; str.isprintable() refuses them.
_HARMLESS = "\n\t\u200c\u200d"


def printable(text: str) -> str:
    """A server or a submission must not control the terminal."""
    return "".join(
        char if char.isprintable() or char in _HARMLESS else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def plainly(error: UnicodeError) -> tuple[str, int]:
    """A codec error handler: ASCII for our symbols, a question mark for others."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(char, "?") for char in error.object[error.start : error.end]), error.end


def degrade_output() -> None:
    """Also opens streams that a shell closed (``>&-``)."""
    if sys.stdout is None or sys.stderr is None:
        nowhere = open(os.devnull, "w")  # noqa: PTH123, SIM115 - no pathlib here, and open until the end
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    codecs.register_error(ERRORS, plainly)
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is not None:
            change(errors=ERRORS)


def discard_output() -> None:
    """A failed write would fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _coloured() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
