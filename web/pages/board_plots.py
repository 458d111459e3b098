"""What the boards' inline SVG is drawn from: shares of a width are computed here, so that no page needs a style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.schemas.leaderboard import Leaderboard, LeaderboardEntry, Record, Reference, ReferenceKind

# The plot's own units; it is stretched to the width there is.
WIDTH, HEIGHT = 1000, 200
# Of times that hardly differ, so that their line is neither at the edge nor drawn as if it fell far: five percent.
_LEAST_SPAN = 1.05
# More steps than pixels show nothing.
_STEPS = 400


@dataclass(frozen=True)
class Bar:
    """Percent of the full width; ``low`` and ``high`` are the ends of the error bar."""

    percent: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """One row of a board: an entry, or what entries are compared with."""

    entry: LeaderboardEntry | None
    reference: Reference | None
    bar: Bar | None


@dataclass(frozen=True)
class Plot:
    """A step line in WIDTH x HEIGHT that begins at ``first``; ``marks`` are its corners, ``ticks`` the times at top,
    middle and bottom, in microseconds.
    """

    first: Record
    path: str
    marks: list[tuple[float, float]]
    ticks: tuple[float, float, float]


def lines(board: Leaderboard, offset: int, page: int) -> list[Line]:
    """The rows of one page of ``page`` entries, with references where their times belong: between entries, or below the
    last. ``board`` holds one entry more, where there is one: what stands before that one belongs to this page.
    """
    longest = _longest(board)
    left = [it for it in board.references if it.kind is not ReferenceKind.ROOFLINE]
    rows: list[Line] = []
    for number, entry in enumerate(board.entries):
        earlier = [it for it in left if it.time_us < entry.time_us]
        left = [it for it in left if it not in earlier]
        if number or not offset:  # those before the first of a later page stand on an earlier one
            rows += [_line(it, longest) for it in earlier]
        if number < page:
            rows.append(Line(entry, None, _bar(entry.speedup, entry.speedup_ci, longest)))
    if len(board.entries) <= page:
        rows += [_line(it, longest) for it in left]
    return rows


def line_of(board: Leaderboard, entry: LeaderboardEntry) -> Line:
    """An entry apart from the others, drawn to the same scale."""
    return Line(entry, None, _bar(entry.speedup, entry.speedup_ci, _longest(board)))


def _line(it: Reference, longest: float) -> Line:
    ends = None
    if it.ci_us is not None and it.speedup is not None:
        ends = (it.speedup * it.time_us / it.ci_us[1], it.speedup * it.time_us / it.ci_us[0])
    return Line(None, it, _bar(it.speedup, ends, longest))


def _longest(board: Leaderboard) -> float:
    shown = [*board.entries, *([board.own] if board.own else [])]
    ends = [it.speedup_ci[1] for it in shown if it.speedup_ci]
    return max(
        [*ends, *(it.speedup or 0.0 for it in board.references if it.kind is ReferenceKind.STAFF)] or [0.0]
    )


def _bar(value: float | None, ends: tuple[float, float] | None, longest: float) -> Bar | None:
    if value is None or longest <= 0:
        return None
    low, high = (_percent(end, longest) for end in ends) if ends else (None, None)
    return Bar(_percent(value, longest), low, high)


def _percent(value: float, longest: float) -> float:
    """At least a sliver that can be seen."""
    return round(min(100.0, max(1.0, value / longest * 100)), 2)


def record_plot(records: Sequence[Record]) -> Plot | None:
    """Time to the right, the record's microseconds upwards on a logarithmic scale. None without a record."""
    if not records:
        return None
    drawn = records[-_STEPS:]
    high, low = _span([it.time_us for it in drawn])
    first, last = drawn[0].submitted_at, drawn[-1].submitted_at
    seconds = (last - first).total_seconds()
    marks = []
    for it in drawn:
        share = (it.submitted_at - first).total_seconds() / seconds if seconds else 0.0
        # The last record holds from its day on: a tenth of the width shows that.
        x = share * WIDTH * 0.9
        y = math.log(high / it.time_us) / math.log(high / low) * HEIGHT
        marks.append((round(x, 1), round(y, 1)))
    steps = "".join(f"H{x}V{y}" for x, y in marks[1:])
    return Plot(
        drawn[0], f"M{marks[0][0]} {marks[0][1]}{steps}H{WIDTH}", marks, (high, math.sqrt(high * low), low)
    )


def _span(times: Sequence[float]) -> tuple[float, float]:
    """The plot's upper and lower end."""
    high, low = max(times), min(times)
    widened = math.sqrt(max(1.0, _LEAST_SPAN / (high / low)))
    return high * widened, low / widened
