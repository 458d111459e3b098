"""A report for a person at a terminal: what failed first, in words; then times, speedups and the score."""

from __future__ import annotations

import shlex
from collections import Counter

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from grader.cli.terminal import out, safe
from grader.schemas.hardware import KernelUsage, Witness
from grader.schemas.report import CaseReport, CaseVerdict, Report, Sizes, Verdict, WorkloadReport

# Screens are short: the rest stands in the JSON.
_FAILURES_IN_FULL = 5

_COLOURS = {Verdict.ACCEPTED: "bold green", Verdict.INTERNAL_ERROR: "bold yellow"}


def put_report(report: Report, filename: str, console: Console | None = None) -> None:
    """Print the whole report. ``filename`` stands in the replay commands."""
    console = console or out()
    for part in _parts(report, filename):
        # Sentences and commands are left whole, so that they can be copied; tables are fitted to the screen.
        console.print(part, soft_wrap=isinstance(part, Text))


def _parts(report: Report, filename: str) -> list[RenderableType]:
    parts: list[RenderableType] = [_headline(report)]
    if report.detail:
        parts.append(safe(report.detail))
    if report.compiler_log:
        parts += [Text("\nCompiler", "bold"), safe(report.compiler_log.rstrip())]
    parts += _cases(report, filename)
    if report.workloads:
        parts += [_workloads(report.workloads), *_remarks(report.workloads), _score(report)]
    if report.kernels:
        parts.append(_kernels(report.kernels))
    if report.workloads and not report.representative:
        parts.append(
            Text(f"Times on {report.device} are not representative: they say nothing of a GPU.", "yellow")
        )
    if report.hint:
        parts.append(Text.assemble(("\nHint: ", "bold"), safe(report.hint)))
    return parts


def verdict_text(verdict: Verdict) -> Text:
    """The verdict in its colour: ``WRONG ANSWER``."""
    return Text(verdict.value.replace("_", " ").upper(), _COLOURS.get(verdict, "bold red"))


def _headline(report: Report) -> Text:
    place = f"{report.challenge} v{report.version}, {report.language.value} on {report.device}"
    line = Text.assemble(verdict_text(report.verdict), f"  {report.verdict.meaning}  ", (place, "dim"))
    if report.flags:
        line.append(f"\nFlags for staff: {', '.join(report.flags)}", "yellow")
    if report.library_ops:
        line.append(f"\nOf torch's own kernels, as the runner said: {', '.join(report.library_ops)}", "dim")
    return line


def _cases(report: Report, filename: str) -> list[RenderableType]:
    if not report.cases:
        return []
    failing = [case for case in report.cases if case.verdict is not CaseVerdict.ACCEPTED]
    parts: list[RenderableType] = []
    if failing:
        parts.append(_failing_table(failing))
        ran = [case for case in failing if case.verdict is not CaseVerdict.NOT_RUN]
        for case in ran[:_FAILURES_IN_FULL]:
            parts += _failure(report, case, filename)
        if len(ran) > _FAILURES_IN_FULL:
            parts.append(
                Text(f"\n... and {len(ran) - _FAILURES_IN_FULL} more; --json has all of them.", "dim")
            )
    parts.append(_passing(report.cases))
    return parts


def _failing_table(failing: list[CaseReport]) -> Table:
    table = _table("Cases that did not pass", "case", "category", "verdict", "sizes")
    for case in failing:
        verdict = case.verdict.value.replace("_", " ")
        table.add_row(safe(case.name), safe(case.category), Text(verdict, "red"), sizes_text(case.sizes))
    return table


def _failure(report: Report, case: CaseReport, filename: str) -> list[RenderableType]:
    parts: list[RenderableType] = [Text.assemble("\n", safe(case.name, "bold"))]
    parts.append(safe(_indent(case.detail)))
    if case.mismatch is not None and case.mismatch.max_error is not None:
        parts.append(safe(f"  largest error {case.mismatch.max_error:.3g}", "dim"))
    if case.output:
        parts.append(safe(f"  It printed:\n{_indent(case.output, '    ')}", "dim"))
    if case.hint:
        parts.append(Text.assemble(("  hint: ", "bold"), safe(case.hint)))
    if case.seed is not None:
        parts.append(safe(f"  seed {case.seed}; replay: {replay_command(report, case, filename)}", "dim"))
    return parts


def replay_command(report: Report, case: CaseReport, filename: str) -> str:
    """The command that runs this case on the same data."""
    words = [
        "grader",
        "test",
        filename,
        "-c",
        report.challenge,
        "--case",
        case.name,
        "--seed",
        str(case.seed),
    ]
    return shlex.join(words)


def _passing(cases: list[CaseReport]) -> Text:
    passed = [case for case in cases if case.verdict is CaseVerdict.ACCEPTED]
    counts = Counter(case.category for case in passed)
    told = ", ".join(name if count == 1 else f"{name} {count}" for name, count in counts.items())
    style = "green" if len(passed) == len(cases) else "dim"
    return safe(f"\n{len(passed)} of {len(cases)} cases passed" + (f": {told}" if told else "."), style)


def _workloads(workloads: list[WorkloadReport]) -> Table:
    baselines = list(dict.fromkeys(name for workload in workloads for name in workload.baselines_us))
    table = _table("Workloads", "workload", "sizes", "time", *baselines, "speedup", "SOL")
    for it in workloads:
        table.add_row(
            safe(it.name + ("" if it.ranked else " (not ranked)")),
            sizes_text(it.sizes),
            f"{time_text(it.time_us)} ± {time_text((it.ci_us[1] - it.ci_us[0]) / 2)}",
            *(time_text(it.baselines_us[name]) if name in it.baselines_us else "-" for name in baselines),
            factor_text(it.speedup),
            "-" if it.sol is None else f"{it.sol:.0%}",
        )
    return table


def _remarks(workloads: list[WorkloadReport]) -> list[Text]:
    """What is out of the ordinary with a time, and what it is made of."""
    lines: list[Text] = []
    for it in workloads:
        lines += [Text.assemble(safe(f"{it.name}: ", "bold"), (text, "yellow")) for text in it.remarks]
        made_of = _made_of(it)
        if made_of:
            lines.append(Text.assemble(safe(f"{it.name}: ", "dim bold"), (made_of, "dim")))
    return [Text(""), *lines] if lines else []


def _made_of(workload: WorkloadReport) -> str:
    parts = []
    if workload.host_us is not None:
        parts.append(f"host {time_text(workload.host_us)} a call, no part of the time")
    if workload.fixed_us is not None:
        parts.append(f"{time_text(workload.fixed_us)} of fixed cost taken off a round")
    if workload.gpu is not None:
        parts.append(f"GPU {workload.gpu.sentence}")
    return "; ".join(parts)


def _kernels(kernels: list[KernelUsage]) -> Table:
    said = " (as the runner said)" if kernels[0].said_by is Witness.RUNNER else ""
    columns = ("kernel", "registers", "shared", "constant", "stack", "spilled")
    table = _table(f"Kernels{said}", *columns)
    for it in kernels:
        table.add_row(
            safe(it.name),
            str(it.registers),
            f"{it.shared_bytes:,} B",
            "-" if it.constant_bytes is None else f"{it.constant_bytes:,} B",
            f"{it.stack_bytes:,} B",
            Text(_spilled(it), "yellow" if it.spills else ""),
        )
    return table


def _spilled(kernel: KernelUsage) -> str:
    if kernel.said_by is Witness.RUNNER:
        return "-"
    if not kernel.spills:
        return "0 B"
    return f"{kernel.spill_stores:,} B stored, {kernel.spill_loads:,} B loaded"


def _score(report: Report) -> Text:
    score = report.score
    if score.time_us is None:
        return Text("")
    line = Text.assemble("\nScore  ", (time_text(score.time_us), "bold"))
    if score.ci is not None:
        line.append(f"  (95 %: {time_text(score.ci[0])} to {time_text(score.ci[1])})", "dim")
    if score.speedup is not None:
        line.append(f"  speedup {factor_text(score.speedup)}", "bold")
    return line


def factor_text(factor: float | None) -> str:
    """A speedup: ``2.50x``, ``1,200x``, ``0.0043x``; ``-`` where there is none."""
    if factor is None:
        return "-"
    return f"{factor:,.0f}x" if factor >= 99.5 else f"{factor:.2f}x" if factor >= 0.1 else f"{factor:.2g}x"


def time_text(microseconds: float) -> str:
    """A time with three digits and a fitting unit: ``12.3 µs``, ``4.56 ms``, ``1.20 s``."""
    for unit, scale in (("µs", 1.0), ("ms", 1e3), ("s", 1e6)):
        value = microseconds / scale
        if value < 999.5 or unit == "s":
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{digits}f} {unit}"
    raise AssertionError("the last unit takes every value")


def sizes_text(sizes: Sizes | None) -> str:
    """Sizes in one line: ``m=16 n=1,024``."""
    return " ".join(f"{name}={value:,}" for name, value in (sizes or {}).items())


def _table(title: str, *columns: str) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        table.add_column(name, header_style="dim", justify="right" if name in ("speedup", "SOL") else "left")
    return table


def _indent(text: str, by: str = "  ") -> str:
    return "\n".join(by + line for line in text.rstrip().splitlines())
