"""A wrong result as inline SVG."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise

from grader.schemas.error_map import Cell, ErrorMap, Writer
from grader.schemas.report import Mismatch

# More cells are smaller than a pixel on a phone.
_ROWS, _COLUMNS = 64, 128
# Above this share, edges would hide the cells.
_MOST_EDGES = 0.4


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
    """``title``: got, expected, or an input. ``rows``: with the index of each first element."""

    title: str
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class FirstWrong:
    """Such as ``out[17, 3]``."""

    element: str
    expected: str
    got: str
    writer: Writer


@dataclass(frozen=True)
class Picture:
    """``rows`` x ``columns`` cells of ``tile`` each. ``map``: for the script; ``edges``: an SVG path; ``first`` None:
    its writer is unknown."""

    map: ErrorMap
    rows: int
    columns: int
    tile: str
    runs: list[Run]
    edges: str
    legend: list[LegendEntry]
    numbers: list[NumberTable]
    first: FirstWrong | None


def picture(mismatch: Mismatch) -> Picture | None:
    """None without a fitting map."""
    found = mismatch.map
    if found is None:
        return None
    try:
        lines, blocks = found.coarse(_ROWS, _COLUMNS), found.coarse_blocks(_ROWS, _COLUMNS)
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
        edges=_edges(blocks),
        legend=[LegendEntry(code, found.label_of(code)) for code in sorted(codes)],
        numbers=_numbers(found),
        first=_first(mismatch, found),
    )


def _first(mismatch: Mismatch, found: ErrorMap) -> FirstWrong | None:
    if found.writer is None or mismatch.index is None:
        return None
    element = f"{mismatch.argument}[{', '.join(map(str, mismatch.index))}]"
    return FirstWrong(element, mismatch.expected or "", mismatch.got or "", found.writer)


def _edges(blocks: list[list[int]]) -> str:
    if not blocks:
        return ""
    upright, level = _runs(blocks), _runs([list(column) for column in zip(*blocks, strict=True)])
    drawn = sum(end - start for _, start, end in (*upright, *level))
    if drawn > _MOST_EDGES * 2 * len(blocks) * len(blocks[0]):
        return ""
    return "".join(
        [f"M{x} {start}V{end}" for x, start, end in upright]
        + [f"M{start} {y}H{end}" for y, start, end in level]
    )


def _runs(lines: list[list[int]]) -> list[tuple[int, int, int]]:
    """Place in a line, first and last line of each straight edge."""
    changes = [[one != other for one, other in pairwise(line)] for line in lines]
    found = []
    for place, along in enumerate(zip(*changes, strict=True), 1):
        at = 0
        for is_edge, group in groupby(along):
            length = len(list(group))
            if is_edge:
                found.append((place, at, at + length))
            at += length
    return found


def _numbers(found: ErrorMap) -> list[NumberTable]:
    firsts = [", ".join(map(str, index)) for index in found.window.first]
    return [
        NumberTable(title, list(zip(firsts, rows, strict=True)))
        for title, rows in found.window.values.items()
    ]
