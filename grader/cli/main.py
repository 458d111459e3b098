"""The `grader` command: imports one command's module, and turns errors into exit codes.

Importing Typer takes six times as long as starting Python, so `--help` prints a table, and `challenges
--json` uses `quick`.
"""

from __future__ import annotations

import sys

from grader.cli.output import EXIT_INTERRUPTED, UNWRITTEN, degrade_output, discard_output, report
from grader.cli.registry import COMMANDS, GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = """\
Usage: grader COMMAND [OPTIONS]

Write GPU kernels in CUDA C++ or Triton and have them judged, timed and ranked.
"""
CLOSING = """\
grader COMMAND --help describes a command; grader --version prints the version.
Exit codes: 0 accepted or done, 1 judged and not accepted, 2 usage, 3 not allowed,
            4 platform failure or unreachable, 5 timed out, 75 start the worker again,
            130 ended by Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    degrade_output()
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("--help", "-h", "help"):
        return _print(listing(), args)
    if args[0] in ("--version", "-V"):
        from grader import __version__

        return _print(f"grader {__version__}", args)
    if args[0] not in COMMANDS:
        return _unknown(args)
    if args == ["challenges", "--json"] and _quick_challenges():
        return 0
    from grader.cli.interrupts import interrupts_end_this

    with interrupts_end_this():
        from grader.cli.command import run
    return run(args)


def _print(text: str, args: list[str]) -> int:
    try:
        print(text, flush=True)
    except OSError as error:
        discard_output()
        if isinstance(error, BrokenPipeError):
            return EXIT_INTERRUPTED
        from grader.errors import BadRequest

        return report(BadRequest(UNWRITTEN), args)
    return 0


def listing() -> str:
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

    from grader.errors import BadRequest

    name = args[0]
    if name.startswith("-"):
        return report(
            BadRequest(f"There is no option '{name}' here.", "Options come after the command."), args
        )
    close = get_close_matches(name, COMMANDS, n=1)
    hint = f"Did you mean '{close[0]}'?" if close else "`grader --help` lists the commands."
    return report(BadRequest(f"There is no command '{name}'.", hint), args)


if __name__ == "__main__":
    sys.exit(main())
