"""`grader doctor`'s findings and their table.

A function under ``check`` (one finding) or ``checks`` (any number) never raises: an error becomes a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import wraps
from typing import ParamSpec

from rich.table import Table
from rich.text import Text

from grader.cli.command import extra_of
from grader.cli.terminal import safe
from grader.errors import GraderError

P = ParamSpec("P")


class Level(StrEnum):
    """``MISSING``: an optional part does not work. ``WARN``: a protection is missing, or times vary. ``BAD``:
    the host or people's data are open to attack.
    """

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"
    WARN = "warn"
    BAD = "bad"


_COLOURS = {
    Level.OK: "green",
    Level.NOTE: "cyan",
    Level.MISSING: "yellow",
    Level.WARN: "yellow",
    Level.BAD: "red",
}


@dataclass(frozen=True)
class Finding:
    """``name``, ``area`` and ``needed_for`` default to the check's."""

    level: Level
    message: str
    hint: str = ""
    name: str = ""
    area: str = ""
    needed_for: str = ""

    @property
    def code(self) -> str:
        """Such as ``engine.control_groups``."""
        words = "_".join(self.name.replace(",", "").split()).lower()
        return words if not self.area or words.startswith(f"{self.area}.") else f"{self.area}.{words}"


def ok(message: str, name: str = "") -> Finding:
    return Finding(Level.OK, message, name=name)


def note(message: str, hint: str = "", name: str = "") -> Finding:
    return Finding(Level.NOTE, message, hint, name)


def missing(message: str, hint: str = "", needed_for: str = "") -> Finding:
    return Finding(Level.MISSING, message, hint, needed_for=needed_for)


def warn(message: str, hint: str, name: str = "") -> Finding:
    return Finding(Level.WARN, message, hint, name)


def bad(message: str, hint: str, name: str = "") -> Finding:
    return Finding(Level.BAD, message, hint, name)


def check(
    name: str, area: str = "", needed_for: str = "", failed: Level = Level.MISSING
) -> Callable[[Callable[P, Finding]], Callable[P, Finding]]:
    """``failed``: the level of an error."""

    def made(find: Callable[P, Finding]) -> Callable[P, Finding]:
        @wraps(find)
        def run(*args: P.args, **kwargs: P.kwargs) -> Finding:
            try:
                found = find(*args, **kwargs)
            except (GraderError, ModuleNotFoundError) as error:
                found = _failure(error, failed)
            return _named(found, name, area, needed_for)

        return run

    return made


def checks(
    name: str, area: str = "", needed_for: str = "", failed: Level = Level.MISSING, hint: str = ""
) -> Callable[[Callable[P, Iterable[Finding]]], Callable[P, list[Finding]]]:
    """``hint``: for errors without one."""

    def made(find: Callable[P, Iterable[Finding]]) -> Callable[P, list[Finding]]:
        @wraps(find)
        def run(*args: P.args, **kwargs: P.kwargs) -> list[Finding]:
            found: list[Finding] = []
            try:
                found.extend(find(*args, **kwargs))
            except (GraderError, ModuleNotFoundError) as error:
                found.append(_failure(error, failed, hint))
            return [_named(each, name, area, needed_for) for each in found]

        return run

    return made


def examine(every: Iterable[Callable[[], Finding | list[Finding]]]) -> list[Finding]:
    found: list[Finding] = []
    for each in every:
        answer = each()
        found += [answer] if isinstance(answer, Finding) else answer
    return found


def as_table(findings: Iterable[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in findings:
        message = safe(finding.message)
        if finding.needed_for and finding.level is not Level.OK:
            message.append(f"  (needed for: {finding.needed_for})", "dim")
        if finding.hint:
            message.append_text(Text.assemble(("\n-> ", "bold"), safe(finding.hint)))
        area = f"{finding.area}: " if finding.area else ""
        name = Text.assemble((area, "dim"), safe(finding.name, "bold"))
        table.add_row(Text(finding.level.value, _COLOURS[finding.level]), name, message)
    return table


def as_dict(finding: Finding) -> dict[str, str]:
    """``mark`` is the level."""
    return {
        "code": finding.code,
        "area": finding.area,
        "name": finding.name,
        "level": finding.level.value,
        "mark": finding.level.value,
        "text": finding.message,
        "hint": finding.hint,
        "for_what": finding.needed_for,
    }


def _named(found: Finding, name: str, area: str, needed_for: str) -> Finding:
    needed_for = "" if found.level is Level.OK else found.needed_for or needed_for
    return replace(found, name=found.name or name, area=area, needed_for=needed_for)


def _failure(error: GraderError | ModuleNotFoundError, level: Level, hint: str = "") -> Finding:
    if isinstance(error, GraderError):
        return Finding(level, error.message, error.hint or hint)
    return Finding(
        level,
        f"the Python package '{error.name}' is not installed",
        f"pip install 'kernel-grader[{extra_of(error)}]'",
    )
