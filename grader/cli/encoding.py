"""What a terminal cannot encode is written with what it can: no mark and no unit of ours ends a command."""

from __future__ import annotations

import codecs
import sys

ERRORS = "grader-plain"
# One sign for one wherever it can be: bars and columns stay in line.
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


def plainly(error: UnicodeError) -> tuple[str, int]:
    """The error handler: plain signs for those that we use, a question mark for any other."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(char, "?") for char in error.object[error.start : error.end]), error.end


def degrade_output() -> None:
    """From here on stdout and stderr write what they cannot encode plainly."""
    codecs.register_error(ERRORS, plainly)
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is not None:
            change(errors=ERRORS)
