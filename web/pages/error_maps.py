"""The map of a wrong result as runs of cells for inline SVG, and the numbers around its first wrong element."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from grader.schemas.error_map import Cell, ErrorMap
from grader.schemas.report import Mismatch

# Cells of the still picture: more are smaller than a pixel on a phone.
_ROWS, _COLUMNS = 64, 128


@dataclass(frozen=True)
class Run:
    """Neighbouring cells of one code in a row."""

    x: int
    y: int
    width: int
    code: int


@dataclass(frozen=True)
class LegendEntry:
    code: int
    label: str


@dataclass(frozen=True)
class NumberTable:
    """``title``: got, expected, or an input. ``rows``: each with the index of its first element."""

    title: str
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Picture:
    """The still picture, of ``rows`` x ``columns`` cells of ``tile`` each. ``map``: for the script that zooms."""

    map: ErrorMap
    rows: int
    columns: int
    tile: str
    runs: list[Run]
    legend: list[LegendEntry]
    numbers: list[NumberTable]


def picture(mismatch: Mismatch) -> Picture | None:
    """None without a map, and for one whose cells don't fit it."""
    found = mismatch.map
    if found is None:
        return None
    try:
        lines = found.coarse(_ROWS, _COLUMNS)
    except ValueError:
        return None
    runs, codes = [], set()
    for y, line in enumerate(lines):
        x = 0
        for code, cells in groupby(line):
            width = len(list(cells))
            if code != Cell.OUTSIDE:
                runs.append(Run(x, y, width, code))
                codes.add(code)
            x += width
    down, across = found.tile_of(_ROWS, _COLUMNS)
    return Picture(
        map=found,
        rows=len(lines),
        columns=len(lines[0]),
        tile="element" if down * across == 1 else f"tile of {down:,} x {across:,} elements",
        runs=runs,
        legend=[LegendEntry(code, found.label_of(code)) for code in sorted(codes)],
        numbers=_numbers(found),
    )


def _numbers(found: ErrorMap) -> list[NumberTable]:
    firsts = [", ".join(map(str, index)) for index in found.window.first]
    return [
        NumberTable(title, list(zip(firsts, rows, strict=True)))
        for title, rows in found.window.values.items()
    ]
