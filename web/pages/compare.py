from __future__ import annotations

from flask import Blueprint, render_template, request

from grader import limits
from grader.schemas.comparison import Whose
from grader.service.submissions import comparison
from grader.service.submissions.submissions import get_submission
from grader.web import assets
from grader.web.access import AUTHOR, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code, titles
from grader.web.pages.markdown import render

pages = Blueprint("compare", __name__)

_GROUPS = {
    Whose.STAFF: "By staff",
    Whose.OTHERS: "Shared by others",
    Whose.OWN: "By the same author",
}


@pages.get("/submissions/<submission>/compare")
@open_to(AUTHOR)
def show(submission: str) -> str:
    """A kernel compared with staff's solution, a shared one, or another by its author: ?against= names it."""
    view = get_submission(platform(), current_user(), submission)
    found = comparison.compare(
        platform(), current_user(), submission, request.args.get("against", "").strip()
    )
    groups = {
        label: [choice for choice in found.choices if choice.whose is whose]
        for whose, label in _GROUPS.items()
    }
    sources = [kernel.source if kernel else "" for kernel in (found.mine, found.other)]
    return render_template(
        "compare.html",
        title=titles.of(view.challenge),
        view=view,
        found=found,
        groups={label: choices for label, choices in groups.items() if choices},
        commentary=render(found.commentary),
        sides=[code.lines(source)[: limits.DIFF_LINES] for source in sources],
        counts=[code.count(source) for source in sources],
        highlighter=assets.built("listing.js"),
    )
