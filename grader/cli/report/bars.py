"""Times as bars of text: shorter is faster, and the submission's own ends in its interval."""

from __future__ import annotations

from rich.text import Text

from grader.cli.report.words import time_text
from grader.cli.terminal import safe
from grader.schemas.report import TOO_SHORT, Interval, WorkloadReport

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
    if workload.time_us is None:
        longest = max(workload.baselines_us.values(), default=0.0)
        text = Text.assemble(safe(f"  {OWN:<{label}}  ", "bold"), (f"{TOO_SHORT}\n", "bold"))
    else:
        longest = max(workload.ci_us[1], *workload.baselines_us.values())
        half = (workload.ci_us[1] - workload.ci_us[0]) / 2
        own = _own(workload.time_us, workload.ci_us, longest, cells)
        text = Text.assemble(safe(f"  {OWN:<{label}}  ", "bold"), (own, "green"))
        text.append(f"  {time_text(workload.time_us)} ± {time_text(half)}\n", "bold")
    for name, microseconds in workload.baselines_us.items():
        text.append_text(safe(f"  {name[:label]:<{label}}  "))
        text.append(f"{'█' * _cells(microseconds, longest, cells):<{cells}}", "dim")
        text.append(f"  {time_text(microseconds)}\n")
    text.rstrip()
    return text


def _own(time_us: float, ends: Interval, longest: float, cells: int) -> str:
    """``██████├─┼──┤``: full to the interval's lower end, then the interval, the time itself within it; one mark
    where the interval is narrower than two."""
    low, middle, high = (_cells(value, longest, cells) for value in (ends[0], time_us, ends[1]))
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
