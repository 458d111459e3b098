from __future__ import annotations

from flask import Blueprint, render_template, request

from grader.service.challenges import chapters
from grader.service.submissions.progress import progress
from grader.web.access import SIGNED_IN, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform

pages = Blueprint("progress", __name__)


@pages.get("/progress")
@open_to(SIGNED_IN)
def show() -> str:
    """Your progress by track; staff may name a ``?user=``."""
    found = progress(platform(), current_user(), request.args.get("user") or None)
    mine = found.user == current_user().name
    titles = {line.slug: line.title for track in found.tracks for line in track.challenges}
    return render_template(
        "progress.html",
        progress=found,
        titles=titles,
        chapters=chapters.list_chapters(platform(), current_user()) if mine else [],
    )
