"""The whole report, top to bottom."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from grader.cli.report.cases import cases
from grader.cli.report.kernels import kernels
from grader.cli.report.words import verdict_text, whole
from grader.cli.report.workloads import workloads
from grader.cli.terminal import out, safe
from grader.schemas.advice import advise
from grader.schemas.report import Report

_INDENT = "  "


def put_report(report: Report, filename: str, console: Console | None = None) -> None:
    """Print the whole report. ``filename`` stands in the replay commands."""
    console = console or out()
    for part in _parts(report, filename, console.width):
        # Where a program reads, sentences stay whole, too: it looks for them.
        unbroken = isinstance(part, Text) and (bool(part.no_wrap) or not console.is_terminal)
        console.print(part if unbroken else _hanging(part), soft_wrap=unbroken)


def _hanging(part: RenderableType) -> RenderableType:
    """What is indented stays so where it is broken."""
    if not isinstance(part, Text):
        return part
    lines = part.split("\n")
    if not all(line.plain.startswith(_INDENT) for line in lines):
        return part
    inner = Text("\n").join(line[len(_INDENT) :] for line in lines)
    return Padding(inner, (0, 0, 0, len(_INDENT)), expand=False)


def _parts(report: Report, filename: str, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = [_headline(report)]
    advice = advise(report).text
    parts.append(safe(advice, "bold"))
    if report.detail and not any(report.detail in said for said in (advice, report.compiler_log)):
        parts.append(safe(report.detail))
    parts += [safe(remark, "yellow") for remark in report.remarks]
    if report.compiler_log:
        parts += [Text("\nCompiler", "bold"), whole(safe(report.compiler_log.rstrip()))]
    parts += cases(report, filename, width)
    parts += workloads(report, width)
    if report.kernels:
        parts.append(kernels(report.kernels))
    if report.hint:
        parts.append(Text.assemble(("\nHint: ", "bold"), safe(report.hint)))
    return parts


def _headline(report: Report) -> Text:
    place = f"{report.challenge} v{report.version}, {report.language.value} on {report.device}"
    line = Text.assemble(verdict_text(report.verdict), f"  {report.meaning}  ", (place, "dim"))
    if report.flags:
        line.append(f"\nFlags for staff: {', '.join(report.flags)}", "yellow")
    if report.library_ops:
        line.append_text(
            safe(f"\nOf torch's own kernels, as the runner said: {', '.join(report.library_ops)}", "dim")
        )
    return line
