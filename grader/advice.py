from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.device_kinds import caution_of
from grader.formats import sizes
from grader.languages import compiled_name
from grader.schemas.report import CaseReport, CaseVerdict, Flag, Report, Verdict, WorkloadReport
from grader.schemas.verdict import Fault

# `solution.cu(3): error`, `solution.cu:3:10: error`, `in line 3`, `(line 3)`.
_LINE = re.compile(
    rf"{compiled_name()}\((\d{{1,6}})\)|{compiled_name()}:(\d{{1,6}}):|\b[Ll]ine (\d{{1,6}})\b"
)
_NUMBER = re.compile(r"-?\d[\d,.]*(?:e[+-]?\d+)?")
_SAID_CHARS = 200
# Categories that a kernel may fail without failing others.
_SPECIAL = ("empty", "nan", "pos_inf", "neg_inf", "huge", "tiny", "denormal")
_FLAGGED = {
    Flag.LIBRARY_KERNEL: "it calls a library's kernel",
    Flag.HOST_COMPUTED: "it needs the host for its result",
    Flag.ABOVE_ROOFLINE: "it is faster than the hardware allows",
    Flag.WORK_OUTSIDE_GATE: "it worked outside the timed window",
    Flag.SIMILAR: "it resembles another submission",
}


@dataclass(frozen=True)
class Advice:
    text: str
    case: str | None = None
    # From 1.
    line: int | None = None


def advise(report: Report) -> Advice:
    if report.verdict.row.fault is Fault.PLATFORM:
        return Advice(report.verdict.row.advice)
    if report.verdict is Verdict.ACCEPTED:
        return Advice(" ".join(part for part in (_flagged(report.flags), _of_times(report)) if part))
    if report.broken_rules:
        line = next((rule.line for rule in report.broken_rules if rule.line), None)
        return Advice("Keep the results, and change how it computes them.", line=line)
    failing = [case for case in report.cases if case.verdict.failed]
    if report.fails_only_hidden and report.hidden is not None:
        text = f"{report.hidden.sentence} Try sizes and values that no public case has."
        return Advice(text, case=next((case.name for case in failing), None))
    if not failing:
        return _of_loading(report)
    return _of_cases(failing)


def same_findings(failing: Sequence[CaseReport]) -> list[list[CaseReport]]:
    """In order of the first of each; findings that name the mistake come first. Numbers may differ. A wrong
    answer without a hint has no finding.
    """
    groups: dict[tuple[str, str], list[CaseReport]] = {}
    for case in failing:
        said = case.hint if case.verdict is CaseVerdict.WRONG_ANSWER else case.hint or case.detail
        key = (case.verdict.value, _NUMBER.sub("#", said)) if said else (case.name, "")
        groups.setdefault(key, []).append(case)
    return sorted(groups.values(), key=lambda group: not any(map(_is_told, group)))


def _is_told(case: CaseReport) -> bool:
    """At usual sizes and values, with the mistake or its line."""
    if case.hidden or case.on is not None or case.category in _SPECIAL:
        return False
    if case.verdict is CaseVerdict.RUNTIME_ERROR:
        return bool(case.hint) or _LINE.search(case.detail) is not None
    return case.named


def _flagged(flags: Sequence[Flag]) -> str:
    if not flags:
        return ""
    return f"Staff will look at it because {' and '.join(_FLAGGED[flag] for flag in flags)}."


def _of_times(report: Report) -> str:
    workloads = [workload for workload in report.workloads if workload.ranked] or report.workloads
    if not workloads:
        return "Every case passed, and no time was measured."
    if not report.representative:
        return f"Every case passed; the times {caution_of(report.device)}."
    if report.score.unranked:
        return "Every case passed, but it gets no rank."
    known = [workload for workload in workloads if workload.sol is not None]
    if known:
        return _of_light(min(known, key=lambda workload: workload.sol or 0.0), alone=len(workloads) == 1)
    slow = [workload for workload in workloads if workload.speedup is not None]
    if not slow:
        return "Every case passed, but there is nothing yet to compare its times with."
    worst = min(slow, key=lambda workload: workload.speedup or 0.0)
    return f"Every case passed; '{worst.name}' gains least: {_factor(worst.speedup or 0.0)} PyTorch's speed."


def _of_light(worst: WorkloadReport, alone: bool) -> str:
    reached = f"{(worst.sol or 0.0) * 100:.0f} % of the speed of light"
    bound = _bound(worst)
    if alone:
        return f"Every case passed; '{worst.name}' reaches {reached}{bound}."
    return f"Every case passed; furthest from the hardware's limit is '{worst.name}', at {reached}{bound}."


def _bound(workload: WorkloadReport) -> str:
    """Memory or arithmetic."""
    cost = workload.cost
    if cost is None or cost.bandwidth is None or cost.rate is None:
        return ""
    by_memory = cost.bytes / cost.bandwidth >= cost.flops / cost.rate
    return ", limited by memory bandwidth" if by_memory else ", limited by arithmetic"


def _of_loading(report: Report) -> Advice:
    said = _first_line(report.detail)
    found = _LINE.search(report.detail)
    if found is None:
        return Advice(said or report.verdict.row.advice)
    line = int(next(number for number in found.groups() if number))
    return Advice(f"Look first at line {line}: {said}", line=line or None)


def _of_cases(failing: Sequence[CaseReport]) -> Advice:
    public = [case for case in failing if not case.hidden]
    first = same_findings(public)[0][0] if any(map(_is_told, public)) else (public or failing)[0]
    sized = f" with {sizes(first.sizes)}" if first.sizes else ""
    text = f"Look first at '{first.name}'{sized}: it {first.verdict.row.clause}. {_first_line(first.detail)}"
    found = _LINE.search(first.detail) if first.verdict is CaseVerdict.RUNTIME_ERROR else None
    line = int(next(number for number in found.groups() if number)) if found else None
    return Advice(text + _pattern(failing), case=first.name, line=line or None)


def _pattern(failing: Sequence[CaseReport]) -> str:
    categories = {_words(case.category) for case in failing}
    if len(failing) < 2 or len(categories) > 1:
        return ""
    return f" All {len(failing)} failing cases are of the category '{categories.pop()}'."


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    cut = line if len(line) <= _SAID_CHARS else line[: _SAID_CHARS - 1] + "…"
    return cut if not cut or cut[-1] in ".!?…" else cut + "."


def _words(name: str) -> str:
    return name.replace("_", " ")


def _factor(value: float) -> str:
    return f"{value:.2f} times" if value >= 0.1 else f"{value:.2g} times"
