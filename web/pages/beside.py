"""An accepted kernel beside another one: sources, times and counters."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from grader import limits
from grader.service.submissions import beside
from grader.service.submissions.submissions import get_submission
from grader.web import assets
from grader.web.access import AUTHOR, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code, titles
from grader.web.pages.markdown import remark

pages = Blueprint("beside", __name__)

_GROUPS = {
    beside.Whose.STAFF: "By staff",
    beside.Whose.OTHERS: "Shared by others",
    beside.Whose.OWN: "By the same author",
}


@pages.get("/submissions/<submission>/beside")
@open_to(AUTHOR)
def show(submission: str) -> str:
    """A kernel beside staff's solution, one that another person shares, or an earlier one: ?against= names it."""
    view = get_submission(platform(), current_user(), submission)
    found = beside.compare(platform(), current_user(), submission, request.args.get("against", "").strip())
    groups = {
        label: [choice for choice in found.choices if choice.whose is whose]
        for whose, label in _GROUPS.items()
    }
    sources = [kernel.source if kernel else "" for kernel in (found.mine, found.other)]
    return render_template(
        "beside.html",
        title=titles.of(view.challenge),
        view=view,
        found=found,
        groups={label: choices for label, choices in groups.items() if choices},
        commentary=remark(found.commentary),
        sides=[code.lines(source)[: limits.DIFF_LINES] for source in sources],
        counts=[code.count(source) for source in sources],
        highlighter=assets.built("listing.js"),
    )
