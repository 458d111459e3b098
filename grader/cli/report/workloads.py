"""The times of a report: a bar with its interval for each workload, what is to be said of it, and the score."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from grader.cli.report.bars import bars
from grader.cli.report.words import factor_text, sizes_text, time_text
from grader.cli.terminal import safe
from grader.device_kinds import caution_of
from grader.schemas.report import Report, WorkloadReport


def workloads(report: Report, width: int) -> list[RenderableType]:
    """All that is told of the times, for a screen of ``width`` columns."""
    if not report.workloads:
        return []
    parts: list[RenderableType] = [Text.assemble("\n", ("Workloads", "bold"), ("  shorter is faster", "dim"))]
    for it in report.workloads:
        parts += [_headline(it), bars(it, width), *_remarks(it)]
    parts.append(_score(report))
    if not report.representative:
        told = f"Times on {report.device} are not representative: they {caution_of(report.device)}."
        parts.append(safe(told, "yellow"))
    return parts


def _headline(workload: WorkloadReport) -> Text:
    line = Text.assemble(safe(workload.name, "bold"), safe(f"  {sizes_text(workload.sizes)}", "dim"))
    if workload.speedup is not None:
        line.append(f"  speedup {factor_text(workload.speedup)}")
    if workload.sol is not None:
        line.append(f"  SOL {workload.sol:.0%}")
    if not workload.ranked:
        line.append("  (not ranked)", "yellow")
    return line


def _remarks(workload: WorkloadReport) -> list[Text]:
    """What is out of the ordinary with a time, and what it is made of."""
    lines = [Text(f"  {text}", "yellow") for text in workload.remarks]
    if made_of := _made_of(workload):
        lines.append(Text(f"  {made_of}", "dim"))
    return lines


def _made_of(workload: WorkloadReport) -> str:
    parts = []
    if workload.host_us is not None:
        parts.append(f"host {time_text(workload.host_us)} a call, no part of the time")
    if workload.fixed_us is not None:
        parts.append(f"{time_text(workload.fixed_us)} of fixed cost taken off a round")
    if workload.gpu is not None:
        parts.append(f"GPU {workload.gpu.sentence}")
    return "; ".join(parts)


def _score(report: Report) -> Text:
    score = report.score
    if score.time_us is None:
        return Text(f"\nNot ranked: {score.unranked}", "yellow") if score.unranked else Text("")
    line = Text.assemble("\nScore  ", (time_text(score.time_us), "bold"))
    if score.ci is not None:
        line.append(f"  (95 %: {time_text(score.ci[0])} to {time_text(score.ci[1])})", "dim")
    if score.speedup is not None:
        line.append(f"  speedup {factor_text(score.speedup)}", "bold")
    return line
