"""The cases of a report: a mark each, by category; then the first failures in full, with the replay command."""

from __future__ import annotations

import shlex
from collections import Counter

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.cli.report.words import indent, sizes_text, table, whole
from grader.cli.terminal import safe
from grader.schemas.report import CaseReport, Mismatch, Report
from grader.schemas.verdict import Fault

# Screens are short: the rest stands in the JSON.
_FAILURES_IN_FULL = 5
_PASSED, _FAILED, _NOT_RUN = ("✓", "green"), ("✗", "bold red"), ("·", "dim")
_MARKS = {
    Fault.NOBODY: _PASSED,
    Fault.SUBMISSION: _FAILED,
    Fault.PLATFORM: _NOT_RUN,
    Fault.UNKNOWN: _NOT_RUN,
}


def cases(report: Report, filename: str, width: int) -> list[RenderableType]:
    """All that is told of the cases, for a screen of ``width`` columns."""
    if not report.cases:
        return []
    parts: list[RenderableType] = [_count(report.cases), grid(report.cases, width)]
    if report.hidden is not None and not any(case.hidden for case in report.cases):
        passed = report.hidden.passed == report.hidden.total
        line = Text.assemble(("Hidden cases", "bold"), "  ")
        parts.append(line.append_text(safe(report.hidden.sentence, "green" if passed else "bold red")))
    failing = [case for case in report.cases if _mark(case) is _FAILED]
    for case in failing[:_FAILURES_IN_FULL]:
        parts += _failure(report, case, filename)
    if rest := failing[_FAILURES_IN_FULL:]:
        parts.append(Text(f"\n... and {len(rest)} more; --json has all of them.", "dim"))
        parts += [
            safe(f"  {case.name}  ({case.category}, {case.verdict.row.title.lower()})", "dim")
            for case in rest
        ]
    return parts


def _count(found: list[CaseReport]) -> Text:
    """``Cases  3 of 4 passed, 1 failed``."""
    counts = Counter(_mark(case) for case in found)
    line = Text.assemble("\n", ("Cases", "bold"), "  ")
    every = counts[_PASSED] == len(found)
    line.append(f"{counts[_PASSED]} of {len(found)} cases passed", "green" if every else "")
    for mark, word in ((_FAILED, "failed"), (_NOT_RUN, "not run")):
        if counts[mark]:
            line.append(f", {counts[mark]} {word}", mark[1])
    if hidden := sum(case.hidden for case in found):
        line.append(f"  ({hidden} of them hidden)", "dim")
    return line


def grid(found: list[CaseReport], width: int) -> Text:
    """A line for each category, a mark for each case, in the order in which they ran."""
    by_category: dict[str, list[CaseReport]] = {}
    for case in found:
        by_category.setdefault(case.category, []).append(case)
    label = min(max(map(len, by_category)), max(8, width // 3))
    per_line = max(1, width - label - 4)
    text = Text()
    for category, inside in by_category.items():
        for start in range(0, len(inside), per_line):
            text.append_text(safe(f"  {'' if start else category:<{label}}  "))
            for case in inside[start : start + per_line]:
                text.append(*_mark(case))
            text.append("\n")
    text.rstrip()
    return whole(text)


def _mark(case: CaseReport) -> tuple[str, str]:
    return _MARKS[case.verdict.row.fault]


def _failure(report: Report, case: CaseReport, filename: str) -> list[RenderableType]:
    head = Text.assemble("\n", _FAILED, " ", safe(case.name, "bold"))
    head.append_text(safe(f"  {case.category}, {case.verdict.row.title.lower()}", "dim"))
    parts: list[RenderableType] = [head, safe(indent(case.detail))]
    if facts := _facts(case):
        parts.append(safe(f"  {facts}", "dim"))
    if case.mismatch is not None and case.mismatch.worst:
        parts.append(Padding(_worst(case.mismatch), (0, 0, 0, 2)))
    if case.output:
        parts.append(whole(safe(f"  It printed:\n{indent(case.output, '    ')}", "dim")))
    if case.hint:
        parts.append(Text.assemble(("  hint: ", "bold"), safe(case.hint)))
    if case.seed is not None:
        parts.append(whole(safe(f"  replay: {replay_command(report, case, filename)}", "cyan")))
    return parts


def _facts(case: CaseReport) -> str:
    """``n=1,023; seed 42; largest error 0.5``."""
    largest = case.mismatch.max_error if case.mismatch is not None else None
    told = [
        sizes_text(case.sizes),
        f"seed {case.seed}" if case.seed is not None else "",
        f"largest error {largest:.3g}" if largest is not None else "",
    ]
    return "; ".join(each for each in told if each)


def _worst(mismatch: Mismatch) -> Table:
    """The elements that are furthest off."""
    rows = table("", safe(mismatch.argument).plain, "got", "expected", "error", "allowed")
    for it in mismatch.worst:
        index = ", ".join(map(str, it.index))
        error, allowed = (f"{value:.3g}" if value is not None else "-" for value in (it.error, it.allowed))
        rows.add_row(Text(f"[{index}]"), safe(it.got, "red"), safe(it.expected), error, allowed)
    return rows


def replay_command(report: Report, case: CaseReport, filename: str) -> str:
    """The command that runs this case on the same data."""
    words = ["grader", "test", filename, "-c", report.challenge]
    return shlex.join([*words, "--case", case.name, "--seed", str(case.seed)])
