"""The `grader` command: picks the one module that the command needs, and turns errors into exit codes.

Starting must be quick (Typer alone takes six times as long as Python itself), so this module imports nothing but
the table of commands. The listing is printed from that table, and `challenges --json`, which editors and scripts
call often, has a way of its own that needs neither Typer nor pydantic (see `listing`).
"""

from __future__ import annotations

import sys

from grader.cli import encoding
from grader.cli.registry import COMMANDS, GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = """\
Usage: grader COMMAND [OPTIONS]

Write GPU kernels in CUDA C++ or Triton; have them judged, timed and ranked.
"""
CLOSING = """\
grader COMMAND --help says more about a command; grader --version prints the version.
Exit codes: 0 accepted or done, 1 judged and not accepted, 2 usage, 3 not allowed,
            4 our failure or unreachable, 5 timed out waiting; 130 left by Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; returns the exit code."""
    encoding.degrade_output()
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("--help", "-h", "help"):
        print(listing())
        return 0
    if args[0] in ("--version", "-V"):
        from grader import __version__

        print(f"grader {__version__}")
        return 0
    if args[0] not in COMMANDS:
        return _unknown(args)
    if args == ["challenges", "--json"] and _quick_challenges():
        return 0
    from grader.cli.command import run

    return run(args)


def listing() -> str:
    """What `grader --help` prints."""
    width = max(len(name) for name in COMMANDS) + 2
    lines = [USAGE]
    for title, commands in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {name:<{width}}{help_line}" for name, (_, help_line) in commands.items()]
        lines.append("")
    return "\n".join([*lines, CLOSING])


def _quick_challenges() -> bool:
    from grader.cli.quick import get

    text = get("/api/v1/challenges")
    if text is not None:
        print(text.rstrip())
    return text is not None


def _unknown(args: list[str]) -> int:
    from difflib import get_close_matches

    from grader.cli.failure import report
    from grader.errors import BadRequest

    name = args[0]
    if name.startswith("-"):
        return report(BadRequest(f"There is no option '{name}' here.", "Options follow the command."), args)
    close = get_close_matches(name, COMMANDS, n=1)
    hint = f"Did you mean '{close[0]}'?" if close else "`grader --help` lists the commands."
    return report(BadRequest(f"There is no command '{name}'.", hint), args)


if __name__ == "__main__":
    sys.exit(main())
