"""The errors, from the classes below ``grader.errors.GraderError``."""

from __future__ import annotations

from collections.abc import Iterator

import grader.cli.command  # noqa: F401 - defines errors of the command line
from grader import errors
from grader.errors import GraderError
from grader.manual.markup import code, table, unwrapped
from references.markdown import page

ABOUT = (
    "After this page you can tell errors apart in a program. Each has a code, a message and, mostly, a hint. The API "
    'answers with `{"error": {"code": ..., "message": ..., "hint": ...}}` and the status below, the command line '
    "prints message and hint and exits with the code below. [Verdicts](../verdicts.md) are not errors: a wrong answer "
    "is a result."
)


def make() -> str:
    rows = sorted(set(_rows(GraderError)))
    return page("Errors", ABOUT, [table(("code", "HTTP status", "exit code", "meaning"), rows)])


def _rows(kind: type[GraderError]) -> Iterator[tuple[str, str, str, str]]:
    for each in kind.__subclasses__():
        if each.__module__ in (errors.__name__, "grader.cli.command"):
            yield code(each.code), str(each.status), str(each.exit_code), _meaning(each)
        yield from _rows(each)


def _meaning(kind: type[GraderError]) -> str:
    return unwrapped((vars(kind).get("__doc__") or "").partition("\n\n")[0])
