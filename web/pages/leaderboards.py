"""The board of one challenge."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from grader import limits
from grader.service import catalogue
from grader.service import leaderboard as boards
from grader.web.auth.identity import is_staff
from grader.web.current import platform
from grader.web.pages import plots

pages = Blueprint("leaderboards", __name__)

# More than anyone reads; a course of thousands would make a page of megabytes.
_PAGE = 200


def _version(text: str) -> int:
    """What the column of versions can hold, so that no address is an error of ours."""
    return max(1, min(int(text), 2**31 - 1))


def _below(text: str) -> int:
    return max(0, min(int(text), limits.LISTED_MOST))


@pages.get("/leaderboards/<slug>")
def show(slug: str) -> str:
    """Ranked entries; ?device=, ?language= and ?version= choose the board, ?below= skips so many entries."""
    version = request.args.get("version", type=_version)
    below = request.args.get("below", 0, type=_below)
    challenge = catalogue.get_challenge(platform(), slug)
    board = boards.leaderboard(
        platform(),
        slug,
        device=request.args.get("device") or None,
        language=request.args.get("language") or None,
        version=version,
        drafts=is_staff(),
        limit=_PAGE + 1,
        offset=below,
    )
    further = below + _PAGE if len(board.entries) > _PAGE else None
    board = board.model_copy(update={"entries": board.entries[:_PAGE]})
    return render_template(
        "leaderboard.html",
        challenge=challenge,
        board=board,
        bars=plots.speedup_bars(board.entries),
        chosen_version=version,
        below=below,
        further=further,
    )
