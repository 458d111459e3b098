"""The board of one challenge."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from grader.service import catalogue
from grader.service import leaderboard as boards
from grader.web.auth.identity import is_staff
from grader.web.current import platform
from grader.web.pages import plots

pages = Blueprint("leaderboards", __name__)


def _version(text: str) -> int:
    """What the column of versions can hold, so that no address is an error of ours."""
    return max(1, min(int(text), 2**31 - 1))


@pages.get("/leaderboards/<slug>")
def show(slug: str) -> str:
    """Ranked entries; ?device=, ?language= and ?version= choose the board."""
    version = request.args.get("version", type=_version)
    challenge = catalogue.get_challenge(platform(), slug)
    board = boards.leaderboard(
        platform(),
        slug,
        device=request.args.get("device") or None,
        language=request.args.get("language") or None,
        version=version,
        drafts=is_staff(),
    )
    return render_template(
        "leaderboard.html",
        challenge=challenge,
        board=board,
        bars=plots.speedup_bars(board.entries),
        chosen_version=version,
    )
