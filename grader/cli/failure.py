"""How a failure is told: one line and a hint on stderr; with --json also an error object on stdout."""

from __future__ import annotations

import json
import os
import sys

from grader.errors import GraderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def report(error: GraderError, args: Sequence[str]) -> int:
    """Tell ``error`` to the person, and to the program that asked for JSON; returns the exit code."""
    sys.stdout.flush()
    bold, dim, plain = ("\033[1;31m", "\033[2m", "\033[0m") if _coloured() else ("", "", "")
    print(f"{bold}error:{plain} {printable(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"{dim}hint:{plain}  {printable(error.hint)}", file=sys.stderr)
    if "--json" in args:
        print(json.dumps({"error": error.as_dict()}))
    return error.exit_code


def printable(text: str) -> str:
    """``text`` without control characters: what a server or a submission says must not drive the terminal."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def _coloured() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
