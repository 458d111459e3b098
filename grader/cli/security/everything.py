"""All checks together, and the table that a person reads."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from grader.cli.security.check import Check, Level
from grader.cli.security.engine import engine_checks
from grader.cli.security.gpu import gpu_checks
from grader.cli.security.kernel import kernel_checks
from grader.cli.security.platform import platform_checks
from grader.cli.terminal import safe

_COLOURS = {Level.OK: "green", Level.WARN: "yellow", Level.BAD: "red"}


def examine_security() -> list[Check]:
    """Every check of this host, area by area. None of them raises."""
    return [*engine_checks(), *kernel_checks(), *gpu_checks(), *platform_checks()]


def table(checks: list[Check]) -> Table:
    made = Table(box=None, pad_edge=False, show_header=False)
    for check in checks:
        told = safe(check.text)
        if check.mend:
            told.append_text(Text.assemble(("\n-> ", "bold"), safe(check.mend)))
        level = Text(check.level.value, _COLOURS[check.level])
        made.add_row(level, Text.assemble((f"{check.area}: ", "dim"), safe(check.name, "bold")), told)
    return made
