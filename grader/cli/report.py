"""A report at a terminal, in the order of the web's page."""

from __future__ import annotations

import shlex
from collections import Counter

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.advice import advise, same_findings
from grader.cli.own_run import printed_lines, tool_lines
from grader.cli.terminal import out, safe
from grader.device_kinds import EMULATED, caution_of, languages_of
from grader.formats import duration, points, three_digits
from grader.schemas.error_map import Cell, ErrorMap, lines_text
from grader.schemas.hardware import KernelUsage, Witness
from grader.schemas.report import (
    PYTORCH,
    TOO_SHORT,
    CaseReport,
    Interval,
    Mismatch,
    Report,
    Sizes,
    Verdict,
    WorkloadReport,
)
from grader.schemas.verdict import Fault, Tone

_INDENT = "  "


def put_report(report: Report, filename: str, console: Console | None = None) -> None:
    """``filename``: for replay commands."""
    console = console or out()
    for part in _parts(report, filename, console.width):
        # Programs search for sentences, so a pipe gets whole lines.
        unbroken = isinstance(part, Text) and (bool(part.no_wrap) or not console.is_terminal)
        console.print(part if unbroken else _hanging(part), soft_wrap=unbroken)


def _hanging(part: RenderableType) -> RenderableType:
    """Keeps the indent on wrapped lines."""
    if not isinstance(part, Text):
        return part
    lines = part.split("\n")
    if not all(line.plain.startswith(_INDENT) for line in lines):
        return part
    inner = Text("\n").join(line[len(_INDENT) :] for line in lines)
    return Padding(inner, (0, 0, 0, len(_INDENT)), expand=False)


def _parts(report: Report, filename: str, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = [_verdict_line(report)]
    advice = advise(report).text
    parts.append(safe(advice, "bold"))
    if report.workloads and not report.representative and caution_of(report.device) not in advice:
        caution = f"Times on {report.device} are not representative: they {caution_of(report.device)}."
        parts.append(safe(caution, "yellow"))
    if report.detail and not any(report.detail in text for text in (advice, report.compiler_log)):
        parts.append(safe(report.detail))
    parts += [safe(remark, "yellow") for remark in report.remarks]
    if report.compiler_log:
        parts += [Text("\nCompiler", "bold"), whole(safe(report.compiler_log.rstrip()))]
    parts += cases(report, filename, width)
    parts += printed_lines(report)
    parts += tool_lines(report.card_tool)
    parts += workloads(report, width)
    if report.kernels:
        parts.append(kernels(report.kernels))
    if report.hint:
        parts.append(Text.assemble(("\nHint: ", "bold"), safe(report.hint)))
    return parts


def _verdict_line(report: Report) -> Text:
    place = f"{report.challenge} v{report.version}, {report.language.value} on {report.device}"
    line = Text.assemble(verdict_text(report.verdict), f"  {report.meaning}  ", (place, "dim"))
    if report.flags:
        line.append(f"\nFlags for staff: {', '.join(report.flags)}", "yellow")
    if report.library_ops:
        line.append_text(
            safe(f"\nTorch's own kernels, as reported by the runner: {', '.join(report.library_ops)}", "dim")
        )
    return line


_COLOURS = {
    Tone.GOOD: "bold green",
    Tone.BAD: "bold red",
    Tone.OURS: "bold yellow",
    Tone.IDLE: "dim",
    Tone.BUSY: "cyan",
}
_RIGHT_ALIGNED = ("speedup", "SOL", "got", "expected", "error", "allowed")


def verdict_text(verdict: Verdict) -> Text:
    return Text(verdict.row.title.upper(), _COLOURS[verdict.row.tone])


def factor_text(factor: float | None) -> str:
    """``2.50x``, ``1,200x``, ``0.0043x``; ``-`` for None."""
    if factor is None:
        return "-"
    return f"{three_digits(factor)}x" if factor >= 0.1 else f"{factor:.2g}x"


def sizes_text(sizes: Sizes | None) -> str:
    """``m=16 n=1,024``."""
    return " ".join(f"{name}={value:,}" for name, value in (sizes or {}).items())


def table(title: str, *columns: str) -> Table:
    """Without lines; ``title`` may be empty."""
    shown = f"\n{title}" if title else None
    made = Table(title=shown, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        made.add_column(name, header_style="dim", justify="right" if name in _RIGHT_ALIGNED else "left")
    return made


def whole(text: Text) -> Text:
    """Unwrapped: people copy commands, and compilers align with spaces."""
    text.no_wrap = True
    text.overflow = "ignore"
    return text


def indent(text: str, by: str = "  ") -> str:
    return "\n".join(by + line for line in text.rstrip().splitlines())


# The rest get one line each; --json has all.
_FAILURES_IN_FULL = 5
_PASSED, _FAILED, _NOT_RUN = ("✓", "green"), ("✗", "bold red"), ("·", "dim")
_MARKS = {
    Fault.NOBODY: _PASSED,
    Fault.SUBMISSION: _FAILED,
    Fault.PLATFORM: _NOT_RUN,
    Fault.UNKNOWN: _NOT_RUN,
}


def cases(report: Report, filename: str, width: int) -> list[RenderableType]:
    if not report.cases:
        return []
    parts: list[RenderableType] = [_count(report.cases), grid(report.cases, width)]
    if (large := report.large_sizes) is not None:
        line = Text.assemble(("Large sizes", "bold"), "  ")
        held = large.passed + large.not_covered < large.total
        line.append(f"{large.passed} of {large.total}", "bold red" if held else "green")
        parts.append(line.append(large.remark, "yellow" if large.not_covered else "dim"))
    if report.hidden is not None and not any(case.hidden for case in report.cases):
        passed = report.hidden.passed == report.hidden.total
        line = Text.assemble(("Hidden cases", "bold"), "  ")
        parts.append(line.append_text(safe(report.hidden.sentence, "green" if passed else "bold red")))
    for group in report.groups:
        line = Text.assemble((f"Group {group.name}", "bold"), "  ")
        earned = f"{points(group.points)} of {points(group.most)} points, {group.sentence}"
        parts.append(line.append_text(safe(earned, "green" if group.points else "bold red")))
    failing = [case for case in report.cases if _mark(case) is _FAILED]
    groups = same_findings(failing)
    for first, *others in groups[:_FAILURES_IN_FULL]:
        parts += _failure(report, first, filename)
        if others:
            names = ", ".join(case.name for case in others)
            parts.append(safe(f"  the same in {len(others)} more: {names}", "dim"))
    if rest := [case for group in groups[_FAILURES_IN_FULL:] for case in group]:
        parts.append(Text(f"\n... and {len(rest)} more; --json has all of them.", "dim"))
        parts += [
            safe(f"  {case.name}  ({case.category}, {case.verdict.row.title.lower()})", "dim")
            for case in rest
        ]
    return parts


def _count(found: list[CaseReport]) -> Text:
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
    """A line for each category, a mark for each case."""
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
    if case.mismatch is not None and case.mismatch.map is not None:
        parts += _map(case.mismatch, case.mismatch.map)
    if case.mismatch is not None and case.mismatch.worst:
        parts.append(Padding(_worst(case.mismatch), (0, 0, 0, 2)))
    if case.output and not case.prints:
        parts.append(whole(safe(f"  It printed:\n{indent(case.output, '    ')}", "dim")))
    if case.hint:
        parts.append(Text.assemble(("  hint: ", "bold"), safe(case.hint)))
    if case.seed is not None:
        parts.append(whole(safe(f"  replay: {replay_command(report, case, filename)}", "cyan")))
    return parts


def _facts(case: CaseReport) -> str:
    """``n=1,023; seed 42; largest error 0.5``."""
    largest = case.mismatch.max_error if case.mismatch is not None else None
    facts = [
        sizes_text(case.sizes),
        f"seed {case.seed}" if case.seed is not None else "",
        f"largest error {largest:.3g}" if largest is not None else "",
    ]
    return "; ".join(each for each in facts if each)


_MAP_ROWS, _MAP_COLUMNS = 12, 64
_MAP_MARKS: dict[int, tuple[str, str]] = {
    Cell.RIGHT: ("·", "dim"),
    Cell.NOT_FINITE: ("N", "magenta"),
    Cell.NEVER_WRITTEN: ("u", "yellow"),
}


def _map(mismatch: Mismatch, found: ErrorMap) -> list[RenderableType]:
    """A digit is a decade of the error."""
    try:
        lines = found.coarse(_MAP_ROWS, _MAP_COLUMNS)
    except ValueError:
        return []
    text, codes = Text(no_wrap=True), set[int]()
    for line in lines:
        text.append(_INDENT)
        for code in line:
            if code != Cell.OUTSIDE:
                text.append(*_mark_of(code))
                codes.add(code)
        text.append("\n")
    down, across = found.tile_of(_MAP_ROWS, _MAP_COLUMNS)
    size = "an element" if down * across == 1 else f"{down:,} x {across:,} elements"
    legend = ", ".join(f"{_mark_of(code)[0]} {found.label_of(code)}" for code in sorted(codes))
    head = safe(f"  {mismatch.argument}, {size} each, lines of {found.width:,}: {legend}", "dim")
    text.rstrip()
    return [*_first_wrong(mismatch, found), head, text]


def _first_wrong(mismatch: Mismatch, found: ErrorMap) -> list[RenderableType]:
    """``First wrong: out[17, 3] (expected 2.5, got 0.0). Thread 3 of block 2 of turn wrote it last, at line
    14.``
    """
    if found.writer is None or mismatch.index is None:
        return []
    element = f"{mismatch.argument}[{', '.join(map(str, mismatch.index))}]"
    line = f", at {lines_text(found.writer.lines)}" if found.writer.lines else ""
    numbers = f"(expected {mismatch.expected}, got {mismatch.got})"
    text = f"First wrong: {element} {numbers}. {found.writer.sentence}{line}."
    return [Padding(safe(text), (0, 0, 0, 2))]


def _mark_of(code: int) -> tuple[str, str]:
    return _MAP_MARKS.get(code) or (f"{code - 1:x}", "red")


def _worst(mismatch: Mismatch) -> Table:
    rows = table("", safe(mismatch.argument).plain, "got", "expected", "error", "allowed")
    for element in mismatch.worst:
        index = ", ".join(map(str, element.index))
        error, allowed = (
            "-"
            if value is None
            else element.counted(value, mismatch.unit)
            if mismatch.unit and element.unit_size
            else f"{value:.3g}"
            for value in (element.error, element.allowed)
        )
        rows.add_row(Text(f"[{index}]"), safe(element.got, "red"), safe(element.expected), error, allowed)
    return rows


def replay_command(report: Report, case: CaseReport, filename: str) -> str:
    """On the emulated GPU if it knows the language, because it checks each access; a case only for GPUs on
    the board that judged it.
    """
    words = ["grader", "test", filename, "-c", report.challenge]
    board = report.device if case.on else EMULATED
    where = ["--device", board] if report.language in languages_of(board) else []
    return shlex.join([*words, *where, "--case", case.name, "--seed", str(case.seed)])


def workloads(report: Report, width: int) -> list[RenderableType]:
    if not report.workloads:
        return []
    parts: list[RenderableType] = [Text.assemble("\n", ("Workloads", "bold"), ("  shorter is faster", "dim"))]
    for workload in report.workloads:
        parts += [_workload_line(workload), bars(workload, width), *_remarks(workload)]
    parts.append(_score(report))
    return parts


def _workload_line(workload: WorkloadReport) -> Text:
    line = Text.assemble(safe(workload.name, "bold"), safe(f"  {sizes_text(workload.sizes)}", "dim"))
    if workload.speedup is not None:
        line.append(f"  speedup {factor_text(workload.speedup)}")
    if workload.sol is not None:
        line.append(f"  SOL {workload.sol:.0%}")
    if not workload.ranked:
        line.append("  (not ranked)", "yellow")
    return line


def _remarks(workload: WorkloadReport) -> list[Text]:
    lines = [Text(f"  {text}", "yellow") for text in workload.remarks]
    if parts := _breakdown(workload):
        lines.append(Text(f"  {parts}", "dim"))
    return lines


def _breakdown(workload: WorkloadReport) -> str:
    parts = []
    if workload.host_us is not None:
        parts.append(f"host {duration(workload.host_us)} a call, not part of the time")
    if workload.fixed_us is not None:
        parts.append(f"{duration(workload.fixed_us)} of fixed cost subtracted from a round")
    if workload.gpu is not None:
        parts.append(f"GPU {workload.gpu.sentence}")
    return "; ".join(parts)


def _score(report: Report) -> Text:
    score = report.score
    if score.time_us is None:
        return Text(f"\nNot ranked: {score.unranked}", "yellow") if score.unranked else Text("")
    line = Text.assemble("\nScore  ", (duration(score.time_us), "bold"))
    if score.ci is not None and score.ci[0] < score.ci[1]:
        line.append(f"  (95 %: {duration(score.ci[0])} to {duration(score.ci[1])})", "dim")
    if score.speedup is not None:
        line.append(f"  speedup {factor_text(score.speedup)}", "bold")
        others = [
            f"{factor_text(value)} {name}" for name, value in report.speedups.items() if name != PYTORCH[0]
        ]
        if others:
            line.append_text(safe(f"  ({', '.join(others)})", "dim"))
    return line


# Fewer cells cannot show an interval; more do not help.
_MIN_CELLS, _MAX_CELLS = 12, 72
# `999 µs ± 99.9 µs`, after two spaces.
_TIME_CELLS = 19
_LONGEST_LABEL = 14
OWN = "this"


def bars(workload: WorkloadReport, width: int) -> Text:
    """One scale for all, at most ``width`` columns."""
    label = min(_LONGEST_LABEL, max(map(len, (OWN, *workload.baselines_us))))
    room = width - label - _TIME_CELLS - 4
    cells = max(_MIN_CELLS, min(_MAX_CELLS, room))
    if workload.time_us is None:
        longest = max(workload.baselines_us.values(), default=0.0)
        text = Text.assemble(safe(f"  {OWN:<{label}}  ", "bold"), (f"{TOO_SHORT}\n", "bold"))
    else:
        longest = max((workload.ci_us[1], *workload.baselines_us.values()))
        half = (workload.ci_us[1] - workload.ci_us[0]) / 2
        own = _own(workload.time_us, workload.ci_us, longest, cells)
        text = Text.assemble(safe(f"  {OWN:<{label}}  ", "bold"), (own, "green"))
        spread = f" ± {duration(half)}" if half else ", by the model"
        text.append(f"  {duration(workload.time_us)}{spread}\n", "bold")
    for name, microseconds in workload.baselines_us.items():
        text.append_text(safe(f"  {name[:label]:<{label}}  "))
        text.append(f"{'█' * _cells(microseconds, longest, cells):<{cells}}", "dim")
        text.append(f"  {duration(microseconds)}\n")
    text.rstrip()
    return text


def _own(time_us: float, ends: Interval, longest: float, cells: int) -> str:
    """``██████├─┼──┤``: a bar, then the interval; one mark if narrower than two cells."""
    low, middle, high = (_cells(value, longest, cells) for value in (ends[0], time_us, ends[1]))
    wide = high - low
    if wide < 2:
        return f"{'█' * (middle - 1)}┼".ljust(cells)
    interval = ["├", *"─" * (wide - 2), "┤"]
    if wide > 2:
        interval[min(max(middle - low, 1), wide - 2)] = "┼"
    return f"{'█' * low + ''.join(interval):<{cells}}"


def _cells(value: float, longest: float, cells: int) -> int:
    """A short bar stays visible."""
    return max(1, round(value / longest * cells)) if longest > 0 else 1


def kernels(found: list[KernelUsage]) -> Table:
    source = " (as reported by the runner)" if found[0].said_by is Witness.RUNNER else ""
    rows = table(f"Kernels{source}", "kernel", "registers", "shared", "constant", "stack", "spilled")
    for kernel in found:
        rows.add_row(
            safe(kernel.name),
            str(kernel.registers),
            f"{kernel.shared_bytes:,} B",
            "-" if kernel.constant_bytes is None else f"{kernel.constant_bytes:,} B",
            f"{kernel.stack_bytes:,} B",
            Text(_spilled(kernel), "yellow" if kernel.spills else ""),
        )
    return rows


def _spilled(kernel: KernelUsage) -> str:
    if kernel.said_by is Witness.RUNNER:
        return "-"
    if not kernel.spills:
        return "0 B"
    return f"{kernel.spill_stores:,} B stored, {kernel.spill_loads:,} B loaded"
