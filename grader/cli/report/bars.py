"""Times as bars of text: shorter is faster, and the submission's own ends in its interval."""

from __future__ import annotations

from rich.text import Text

from grader.cli.report.words import time_text
from grader.cli.terminal import safe
from grader.schemas.report import WorkloadReport

# The least that shows an interval as one; above the most, a bar is no easier to compare.
_LEAST_CELLS, _MOST_CELLS = 12, 72
# `999 µs ± 99.9 µs`, and two spaces before it.
_TIME_CELLS = 19
_LABEL_MOST = 14
OWN = "this"


def bars(workload: WorkloadReport, width: int) -> Text:
    """The submission's time above its baselines', in at most ``width`` columns, all to one scale."""
    label = min(_LABEL_MOST, max(map(len, (OWN, *workload.baselines_us))))
    room = width - label - _TIME_CELLS - 4
    cells = max(_LEAST_CELLS, min(_MOST_CELLS, room))
    longest = max(workload.ci_us[1], *workload.baselines_us.values(), workload.time_us)
    half = (workload.ci_us[1] - workload.ci_us[0]) / 2
    told = f"{time_text(workload.time_us)} ± {time_text(half)}"
    text = Text.assemble(safe(f"  {OWN:<{label}}  ", "bold"), (_own(workload, longest, cells), "green"))
    text.append(f"  {told}\n", "bold")
    for name, microseconds in workload.baselines_us.items():
        text.append_text(safe(f"  {name[:label]:<{label}}  "))
        text.append(f"{'█' * _cells(microseconds, longest, cells):<{cells}}", "dim")
        text.append(f"  {time_text(microseconds)}\n")
    text.rstrip()
    return text


def _own(workload: WorkloadReport, longest: float, cells: int) -> str:
    """``██████├─┼──┤``: full to the interval's lower end, then the interval, the time itself within it; one mark
    where the interval is narrower than two."""
    low, middle, high = (
        _cells(value, longest, cells) for value in (workload.ci_us[0], workload.time_us, workload.ci_us[1])
    )
    wide = high - low
    if wide < 2:
        return f"{'█' * (middle - 1)}┼".ljust(cells)
    interval = ["├", *"─" * (wide - 2), "┤"]
    if wide > 2:
        interval[min(max(middle - low, 1), wide - 2)] = "┼"
    return f"{'█' * low + ''.join(interval):<{cells}}"


def _cells(value: float, longest: float, cells: int) -> int:
    """At least one: a sliver that can be seen."""
    return max(1, round(value / longest * cells)) if longest > 0 else 1
