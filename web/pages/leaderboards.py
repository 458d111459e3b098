"""The board of one challenge."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from grader.service import catalogue
from grader.service import leaderboard as boards
from grader.web.current import platform
from grader.web.pages import plots

pages = Blueprint("leaderboards", __name__)


@pages.get("/leaderboards/<slug>")
def show(slug: str) -> str:
    """Ranked entries; ?device= and ?language= choose the board."""
    challenge = catalogue.get_challenge(platform(), slug)
    board = boards.leaderboard(
        platform(),
        slug,
        device=request.args.get("device") or None,
        language=request.args.get("language") or None,
    )
    return render_template(
        "leaderboard.html", challenge=challenge, board=board, bars=plots.speedup_bars(board.entries)
    )
