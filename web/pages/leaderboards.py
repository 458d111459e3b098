from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from flask import Blueprint, Response, render_template, request, url_for

from grader import limits, spreadsheet
from grader.schemas.leaderboard import Leaderboard, LeaderboardEntry, Record, Reference, ReferenceKind
from grader.service.boards import leaderboard, track_board
from grader.service.boards import leaderboard as boards
from grader.service.boards.leaderboard import Wanted
from grader.service.challenges import catalogue
from grader.web import forms
from grader.web.access import READERS, open_to
from grader.web.auth.identity import is_staff, viewer
from grader.web.current import platform

pages = Blueprint("leaderboards", __name__)

# Thousands would make a page of megabytes.
_PAGE = 200
# The JSON has all.
_RECORDS = 50


def _version(text: str) -> int:
    """Clipped to the column's range."""
    return max(1, min(int(text), 2**31 - 1))


def _below(text: str) -> int:
    return max(0, min(int(text), limits.LISTED_MOST))


def _wanted() -> Wanted:
    return {
        "device": request.args.get("device") or None,
        "language": request.args.get("language") or None,
        "version": request.args.get("version", type=_version),
        "drafts": is_staff(),
    }


@pages.get("/leaderboards")
@open_to(READERS)
def index() -> str:
    """Every board with its leader; ?device= chooses."""
    found = track_board.leaderboards(platform(), request.args.get("device") or None, viewer())
    return render_template("leaderboard/index.html", found=found)


@pages.get("/leaderboards/<slug>")
@open_to(READERS)
def show(slug: str) -> str:
    """Ranked entries; ?device=, ?language= and ?version= choose the board, ?below= skips that many entries."""
    below = request.args.get("below", 0, type=_below)
    challenge = catalogue.heading(platform(), slug, viewer())
    wanted = _wanted()
    board, history = leaderboard.board_and_records(
        platform(), slug, limit=_PAGE + 1, offset=below, viewer=viewer(), **wanted
    )
    records = history.records
    # Without a version in the address, links have none.
    kept = {"device": board.device, "language": board.language, "version": wanted["version"]}
    return render_template(
        "leaderboard.html",
        challenge=challenge,
        board=board,
        lines=lines(board, below, _PAGE) if board.entries else [],
        own=_pinned(board, below),
        kept={name: choice for name, choice in kept.items() if choice is not None},
        below=below,
        last=min(below + _PAGE, board.total),
        before=max(0, below - _PAGE) if below else None,
        further=below + _PAGE if below + _PAGE < board.total else None,
        own_page=_page_of(board.own_place),
        records=records[: -_RECORDS - 1 : -1],
        plot=record_plot(records) if not below else None,
        plot_size=(WIDTH, HEIGHT),
    )


@pages.get("/leaderboards/<slug>/board.csv")
@open_to(READERS)
def table(slug: str) -> Response:
    """All entries of the board as CSV; ?bom=1 adds a byte order mark for Excel."""
    board = boards.leaderboard(platform(), slug, viewer=viewer(), **_wanted())
    mark = spreadsheet.BOM if forms.asks("bom") else ""
    response = Response(mark + written(board), mimetype="text/csv")
    name = f"{board.challenge}-v{board.version}-{plain(board.device)}.csv"
    response.headers.set("Content-Disposition", "attachment", filename=name)
    response.cache_control.private = True
    response.cache_control.no_cache = True
    return response


@pages.get("/leaderboards/tracks/<track>")
@open_to(READERS)
def show_track(track: str) -> str:
    """The people who solved most of a track, and fastest; ?device= chooses, ?below= skips that many entries."""
    below = request.args.get("below", 0, type=_below)
    board = track_board.track_board(
        platform(), track, request.args.get("device") or None, limit=_PAGE, offset=below, viewer=viewer()
    )
    shown_own = board.own_place is not None and below <= board.own_place < below + _PAGE
    return render_template(
        "leaderboard/track.html",
        board=board,
        titles=catalogue.titles(platform(), board.challenges, viewer()),
        own=None if shown_own else board.own,
        below=below,
        before=max(0, below - _PAGE) if below else None,
        further=below + _PAGE if below + _PAGE < board.total else None,
        own_page=_page_of(board.own_place),
        address=lambda **more: url_for("leaderboards.show_track", track=track, device=board.device, **more),
    )


def _pinned(board: Leaderboard, below: int) -> Line | None:
    """The viewer's entry, unless shown anyway."""
    if board.own is None or (board.own_place is not None and below <= board.own_place < below + _PAGE):
        return None
    return line_of(board, board.own)


def _page_of(place: int | None) -> int | None:
    return None if place is None else place // _PAGE * _PAGE


COLUMNS = (
    "rank",
    "user",
    "language",
    "time_us",
    "time_low_us",
    "time_high_us",
    "speedup",
    "speedup_low",
    "speedup_high",
    "sol",
    "submitted_at",
    "submission",
)


def written(board: Leaderboard) -> str:
    """Entries, the caller's own without a rank if it is on no board, and references."""
    entries = (
        board.entries if board.own is None or board.own_place is not None else [*board.entries, board.own]
    )
    lines = [spreadsheet.row(COLUMNS), *(spreadsheet.row(_row(entry)) for entry in entries)]
    for reference in board.references:
        low, high = reference.ci_us or (None, None)
        lines.append(
            spreadsheet.row(
                [
                    "",
                    reference.name,
                    "",
                    reference.time_us,
                    low,
                    high,
                    reference.speedup,
                    None,
                    None,
                    reference.sol,
                    "",
                    "",
                ]
            )
        )
    return "".join(lines)


def _row(entry: LeaderboardEntry) -> list[object]:
    return [
        entry.rank,
        entry.user,
        entry.language.value,
        entry.time_us,
        *entry.ci_us,
        entry.speedup,
        *(entry.speedup_ci or (None, None)),
        entry.sol,
        entry.submitted_at.isoformat(timespec="seconds"),
        entry.submission,
    ]


def plain(text: str) -> str:
    """For file names."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)


# Units of the plot, which is stretched to the page.
WIDTH, HEIGHT = 1000, 200
# If times hardly differ, their line is neither at the edge nor steep.
_LEAST_SPAN = 1.05
# More steps than pixels show nothing.
_STEPS = 400


@dataclass(frozen=True)
class BoardBar:
    """In percent; ``low`` and ``high``: the error bar."""

    percent: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """An entry or a reference."""

    entry: LeaderboardEntry | None
    reference: Reference | None
    bar: BoardBar | None


@dataclass(frozen=True)
class Plot:
    """In WIDTH x HEIGHT; ``marks``: corners; ``ticks``: microseconds at top, middle and bottom."""

    first: Record
    path: str
    marks: list[tuple[float, float]]
    ticks: tuple[float, float, float]


def lines(board: Leaderboard, offset: int, page: int) -> list[Line]:
    """Entries and references by time. ``board`` has one more entry, if any: rows before it are on this page."""
    longest = _longest(board)
    left = [reference for reference in board.references if reference.kind is not ReferenceKind.ROOFLINE]
    rows: list[Line] = []
    for number, entry in enumerate(board.entries):
        earlier = [faster for faster in left if faster.time_us < entry.time_us]
        left = [reference for reference in left if reference not in earlier]
        if number or not offset:  # a previous page shows those before the first
            rows += [_line(reference, longest) for reference in earlier]
        if number < page:
            rows.append(Line(entry, None, _bar(entry.speedup, entry.speedup_ci, longest)))
    if len(board.entries) <= page:
        rows += [_line(reference, longest) for reference in left]
    return rows


def line_of(board: Leaderboard, entry: LeaderboardEntry) -> Line:
    """Drawn to the same scale."""
    return Line(entry, None, _bar(entry.speedup, entry.speedup_ci, _longest(board)))


def _line(reference: Reference, longest: float) -> Line:
    ends = None
    if reference.ci_us is not None and reference.speedup is not None:
        ends = (
            reference.speedup * reference.time_us / reference.ci_us[1],
            reference.speedup * reference.time_us / reference.ci_us[0],
        )
    return Line(None, reference, _bar(reference.speedup, ends, longest))


def _longest(board: Leaderboard) -> float:
    shown = [*board.entries, *([board.own] if board.own else [])]
    ends = [entry.speedup_ci[1] for entry in shown if entry.speedup_ci]
    return max(
        [
            *ends,
            *(
                reference.speedup or 0.0
                for reference in board.references
                if reference.kind is ReferenceKind.STAFF
            ),
        ]
        or [0.0]
    )


def _bar(value: float | None, ends: tuple[float, float] | None, longest: float) -> BoardBar | None:
    if value is None or longest <= 0:
        return None
    low, high = (_percent(end, longest) for end in ends) if ends else (None, None)
    return BoardBar(_percent(value, longest), low, high)


def _percent(value: float, longest: float) -> float:
    """At least a visible sliver."""
    return round(min(100.0, max(1.0, value / longest * 100)), 2)


def record_plot(records: Sequence[Record]) -> Plot | None:
    """Logarithmic; None without a record."""
    if not records:
        return None
    drawn = records[-_STEPS:]
    high, low = _span([record.time_us for record in drawn])
    first, last = drawn[0].submitted_at, drawn[-1].submitted_at
    seconds = (last - first).total_seconds()
    marks = []
    for record in drawn:
        share = (record.submitted_at - first).total_seconds() / seconds if seconds else 0.0
        # Shows that the last record holds.
        x = share * WIDTH * 0.9
        y = math.log(high / record.time_us) / math.log(high / low) * HEIGHT
        marks.append((round(x, 1), round(y, 1)))
    steps = "".join(f"H{x}V{y}" for x, y in marks[1:])
    return Plot(
        drawn[0], f"M{marks[0][0]} {marks[0][1]}{steps}H{WIDTH}", marks, (high, math.sqrt(high * low), low)
    )


def _span(times: Sequence[float]) -> tuple[float, float]:
    """Upper and lower end."""
    high, low = max(times), min(times)
    widened = math.sqrt(max(1.0, _LEAST_SPAN / (high / low)))
    return high * widened, low / widened
