"""A result, prepared for ``templates/report``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from markupsafe import Markup, escape

from grader.advice import Advice, advise, same_findings
from grader.languages import compiled_name
from grader.schemas.profile_advice import Hint
from grader.schemas.report import CaseReport, Report, place_text
from grader.schemas.verdict import Fault
from grader.service.boards.leaderboard import PastTime
from grader.web.pages import code
from grader.web.pages.call_profiles import ProfileView, profile_views
from grader.web.pages.plots import HistoryPlot, Roofline, WorkloadBars, history, roofline, workload_bars

ALL, FAILED = "all", "failed"
_SHAPES = {
    Fault.NOBODY: "passed",
    Fault.SUBMISSION: "failed",
    Fault.PLATFORM: "idle",
    Fault.UNKNOWN: "idle",
}


@dataclass(frozen=True)
class Cell:
    """``number`` from 1. ``shape``: passed, failed or idle."""

    number: int
    case: CaseReport
    letter: str
    shape: str

    @property
    def failed(self) -> bool:
        return self.shape == "failed"


@dataclass(frozen=True)
class CaseGroup:
    category: str
    cells: list[Cell]


@dataclass(frozen=True)
class Failure:
    """A case, and others that fail alike."""

    cell: Cell
    others: list[Cell]


@dataclass(frozen=True)
class CaseFilter:
    value: str
    label: str
    count: int


@dataclass(frozen=True)
class Result:
    """``failing`` and ``others``: cases that pass ``chosen``. ``roofline``: a plot or a sentence. ``log``: linked to
    the ``lines`` of a shown source."""

    report: Report
    advice: Advice
    cells: list[Cell]
    groups: list[CaseGroup]
    choices: list[CaseFilter]
    chosen: str
    bars: list[WorkloadBars]
    roofline: Roofline | str
    log: Markup
    profiles: list[ProfileView]
    lines: int = 0
    source: str = ""
    history: HistoryPlot | None = None
    legend: list[Cell] = field(default_factory=list)

    def line_text(self, number: int) -> str:
        """ "" if the line is not on the page."""
        return code.lines(self.source)[number - 1].strip() if 1 <= number <= self.lines else ""

    @property
    def failing(self) -> list[Cell]:
        return [cell for cell in self._chosen() if cell.failed]

    @property
    def failures(self) -> list[Failure]:
        by_name = {cell.case.name: cell for cell in self.failing}
        groups = same_findings([cell.case for cell in self.failing])
        return [
            Failure(by_name[first.name], [by_name[case.name] for case in others]) for first, *others in groups
        ]

    @property
    def others(self) -> list[Cell]:
        return [cell for cell in self._chosen() if not cell.failed]

    @property
    def listed(self) -> set[int]:
        return {cell.number for cell in self._chosen()}

    @property
    def shows_hidden(self) -> bool:
        return any(cell.case.hidden for cell in self.cells)

    def prints_of(self, case: CaseReport) -> list[tuple[str, list[tuple[str, str]]]]:
        return [
            (place_text(block), [(place_text(entry.thread), entry.text.rstrip("\n")) for entry in entries])
            for block, entries in groupby(case.prints, key=lambda entry: entry.block)
        ]

    @property
    def first_hint(self) -> Hint | None:
        return next((hint for profile in self.profiles for hint in profile.hints), None)

    @property
    def advised(self) -> Cell | None:
        named = (cell for cell in self.cells if self.advice.case and cell.case.name == self.advice.case)
        return next(named, None)

    def _chosen(self) -> list[Cell]:
        if self.chosen == ALL:
            return self.cells
        return [
            cell
            for cell in self.cells
            if (cell.failed if self.chosen == FAILED else cell.case.category == self.chosen)
        ]


def result(
    report: Report, chosen: str = ALL, source: str = "", times: Sequence[PastTime] = (), own: str = ""
) -> Result:
    """``source``: shown, or "". ``times``: the owner's; ``own``: this one."""
    cells = [_cell(number, case) for number, case in enumerate(report.cases, 1)]
    groups = _groups(cells)
    choices = _choices(cells, groups)
    lines = code.count(source) if source else 0
    return Result(
        report=report,
        advice=advise(report),
        cells=cells,
        groups=groups,
        choices=choices,
        chosen=chosen if chosen in [choice.value for choice in choices] else ALL,
        bars=workload_bars(report.workloads),
        roofline=roofline(report),
        log=linked(report.compiler_log, lines),
        profiles=profile_views(report.workloads, source),
        lines=lines,
        source=source,
        history=history(times, own),
        legend=list({cell.letter: cell for cell in cells}.values()),
    )


def _cell(number: int, case: CaseReport) -> Cell:
    row = case.verdict.row
    if case.prints:  # shown by block and thread instead
        case = case.model_copy(update={"output": ""})
    return Cell(number, case, row.letter, _SHAPES[row.fault])


def _groups(cells: Sequence[Cell]) -> list[CaseGroup]:
    by_category: dict[str, list[Cell]] = {}
    for cell in cells:
        by_category.setdefault(cell.case.category, []).append(cell)
    return [CaseGroup(category, found) for category, found in by_category.items()]


def _choices(cells: Sequence[Cell], groups: Sequence[CaseGroup]) -> list[CaseFilter]:
    failed = sum(cell.failed for cell in cells)
    choices = [CaseFilter(ALL, "All", len(cells))]
    if failed:
        choices.append(CaseFilter(FAILED, "Failed", failed))
    return choices + [CaseFilter(group.category, group.category, len(group.cells)) for group in groups]


# `solution.cu(3): error` (nvcc), `solution.cu:3:10: error` (host's compiler).
_PLACE = re.compile(compiled_name() + r"(?:\((\d{1,6})\)|:(\d{1,6})(?=[:,]))")


def linked(log: str, lines: int) -> Markup:
    """Links only lines from 1 to ``lines``: students control the log."""
    parts: list[Markup] = []
    end = 0
    for found in _PLACE.finditer(log):
        line = int(found[1] or found[2])
        if 1 <= line <= lines:
            parts += [
                escape(log[end : found.start()]),
                Markup('<a href="#L-{}">{}</a>').format(line, found[0]),
            ]
            end = found.end()
    return Markup("").join([*parts, escape(log[end:])])
