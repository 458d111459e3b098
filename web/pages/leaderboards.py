"""Boards: of a challenge, of a track, and who leads where. All that is chosen stands in the address."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request, url_for

from grader import limits
from grader.schemas.leaderboard import Leaderboard
from grader.service import catalogue, leaderboard, track_board
from grader.service import leaderboard as boards
from grader.service.leaderboard import Wanted
from grader.web.auth.identity import is_staff, viewer
from grader.web.current import platform
from grader.web.pages import board_plots, board_table

pages = Blueprint("leaderboards", __name__)

# More than anyone reads; a course of thousands would make a page of megabytes.
_PAGE = 200
# Of the table beside the plot, the latest: whoever wants more takes the JSON.
_RECORDS = 50


def _version(text: str) -> int:
    """What the column of versions can hold, so that no address is an error of ours."""
    return max(1, min(int(text), 2**31 - 1))


def _below(text: str) -> int:
    return max(0, min(int(text), limits.LISTED_MOST))


def _wanted() -> Wanted:
    """Which board the address means."""
    return {
        "device": request.args.get("device") or None,
        "language": request.args.get("language") or None,
        "version": request.args.get("version", type=_version),
        "drafts": is_staff(),
    }


@pages.get("/leaderboards")
def index() -> str:
    """Every board with its first entry; ?device= chooses."""
    found = track_board.leaderboards(platform(), request.args.get("device") or None, viewer())
    return render_template("leaderboard/index.html", found=found)


@pages.get("/leaderboards/<slug>")
def show(slug: str) -> str:
    """Ranked entries; ?device=, ?language= and ?version= choose the board, ?below= skips so many entries."""
    below = request.args.get("below", 0, type=_below)
    challenge = catalogue.heading(platform(), slug)
    wanted = _wanted()
    board, history = leaderboard.board_and_records(
        platform(), slug, limit=_PAGE + 1, offset=below, viewer=viewer(), **wanted
    )
    records = history.records
    # As the address says it: without a version it stays that of the board that is shown.
    kept = {"device": board.device, "language": board.language, "version": wanted["version"]}
    return render_template(
        "leaderboard.html",
        challenge=challenge,
        board=board,
        lines=board_plots.lines(board, below, _PAGE) if board.entries else [],
        own=_pinned(board, below),
        kept={name: it for name, it in kept.items() if it is not None},
        below=below,
        last=min(below + _PAGE, board.total),
        before=max(0, below - _PAGE) if below else None,
        further=below + _PAGE if below + _PAGE < board.total else None,
        own_page=_page_of(board.own_place),
        records=records[: -_RECORDS - 1 : -1],
        plot=board_plots.record_plot(records) if not below else None,
        plot_size=(board_plots.WIDTH, board_plots.HEIGHT),
    )


@pages.get("/leaderboards/<slug>/board.csv")
def table(slug: str) -> Response:
    """All entries of the board that the same address without ``/board.csv`` shows."""
    board = boards.leaderboard(platform(), slug, viewer=viewer(), **_wanted())
    response = Response(board_table.written(board), mimetype="text/csv")
    name = f"{board.challenge}-v{board.version}-{board_table.plain(board.device)}.csv"
    response.headers.set("Content-Disposition", "attachment", filename=name)
    response.cache_control.private = True
    response.cache_control.no_cache = True
    return response


@pages.get("/leaderboards/tracks/<track>")
def show_track(track: str) -> str:
    """Who solved most in a track, and fastest; ?device= chooses, ?below= skips so many entries."""
    below = request.args.get("below", 0, type=_below)
    board = track_board.track_board(
        platform(), track, request.args.get("device") or None, limit=_PAGE, offset=below, viewer=viewer()
    )
    shown_own = board.own_place is not None and below <= board.own_place < below + _PAGE
    return render_template(
        "leaderboard/track.html",
        board=board,
        titles=catalogue.titles(platform(), board.challenges),
        own=None if shown_own else board.own,
        below=below,
        before=max(0, below - _PAGE) if below else None,
        further=below + _PAGE if below + _PAGE < board.total else None,
        own_page=_page_of(board.own_place),
        address=lambda **more: url_for("leaderboards.show_track", track=track, device=board.device, **more),
    )


def _pinned(board: Leaderboard, below: int) -> board_plots.Line | None:
    """The viewer's own entry, where it is not among those that are shown."""
    if board.own is None or board.own_place is None or below <= board.own_place < below + _PAGE:
        return None
    return board_plots.line_of(board, board.own)


def _page_of(place: int | None) -> int | None:
    """What to skip to come to the page with ``place``."""
    return None if place is None else place // _PAGE * _PAGE
