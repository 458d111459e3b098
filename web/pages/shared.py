from __future__ import annotations

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader.service.boards import share
from grader.web.access import ANYONE, OWNER, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import titles
from grader.web.pages.results import ALL, result

pages = Blueprint("shared", __name__)


@pages.get("/shared/<key>")
@open_to(ANYONE)
def show(key: str) -> Response:
    """The result alone: no name, no source, no way to the owner's other submissions."""
    found = share.shared(platform(), key)
    page = render_template(
        "shared.html",
        title=titles.of(found.challenge),
        view=found,
        filename=f"solution{found.language.suffix}",
        cases_at=url_for("shared.show", key=key),
        result=result(found.report, request.args.get("cases", ALL)),
    )
    response = make_response(page)
    # Neither search engines nor linked sites may learn the address.
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@pages.post("/submissions/<submission>/share")
@open_to(OWNER)
def begin(submission: str) -> BaseResponse:
    """Create a link to your result."""
    share.share(platform(), current_user(), submission)
    return _back(submission)


@pages.post("/submissions/<submission>/unshare")
@open_to(OWNER)
def end(submission: str) -> BaseResponse:
    """Remove the link."""
    share.unshare(platform(), current_user(), submission)
    return _back(submission)


def _back(submission: str) -> BaseResponse:
    return redirect(url_for("submissions.show", submission=submission, _anchor="share"), 303)
