"""The docs: `docs/` of this release, public, under /docs."""

from __future__ import annotations

import hashlib
import re

from flask import Blueprint, Response, make_response, redirect, render_template, request, session
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import NotFound
from grader.manual.pages import INDEX, Page, manual
from grader.manual.search import QUERY_CHARS, search
from grader.web.auth.identity import viewer
from grader.web.pages import prose

pages = Blueprint("docs", __name__, url_prefix="/docs")

# A page of more sections than this lists the larger ones alone.
_LISTED = 40
_CSRF = re.compile(rb'name="csrf_token" value="[^"]*"')
_PLAIN = "text/plain; charset=utf-8"


@pages.get("", strict_slashes=False)
def index() -> Response:
    """What there is to read, by role."""
    return _page(manual().index)


@pages.get("/search")
def find() -> Response:
    """Sections that have every word asked for."""
    query = request.args.get("q", "").strip()[:QUERY_CHARS]
    hits = search(manual(), query)
    return _kept(_frame("docs_search.html", query=query, hits=hits, page=None))


@pages.get("/<path:name>")
def show(name: str) -> BaseResponse:
    """One page; a name with `.md` or a slash at its end leads to it; other files of the docs as they are."""
    known = manual()
    plain = name.rstrip("/").removesuffix(".md")
    if (plain != name and known.has(plain)) or name == INDEX:
        return redirect(prose.address(plain), 301)
    if name in known.files:
        return _kept(Response((known.folder / name).read_text(encoding="utf-8"), content_type=_PLAIN))
    try:
        return _page(known.page(name))
    except NotFound as error:
        page = _frame("docs_missing.html", page=None, query="", error=error, close=known.close_to(name))
        return Response(page, 404)


def _page(page: Page) -> Response:
    known = manual()
    before, after = known.beside(page)
    return _kept(
        _frame(
            "docs.html",
            page=page,
            query="",
            body=prose.render(known, page),
            contents=_contents(page),
            before=before,
            after=after,
        )
    )


def _frame(template: str, **values: object) -> str:
    return render_template(template, roles=manual().roles, address=prose.address, **values)


def _contents(page: Page) -> list[tuple[int, str, str]]:
    """Level, title and anchor of what the page has: two levels, or one where there are many."""
    found = [(each.level, each.title, each.anchor) for each in page.sections if each.level in (2, 3)]
    return found if len(found) <= _LISTED else [each for each in found if each[0] == 2]


def _kept(answer: Response | str) -> Response:
    """A stranger's browser asks whether a page is still the same. What is shown to people is not kept at all."""
    response = make_response(answer)
    if viewer() is not None:
        return response
    # Each answer writes new form tokens, and each is valid for the session's life.
    same = _CSRF.sub(b"", response.get_data()) + str(session.get("csrf_token", "")).encode()
    response.set_etag(hashlib.sha256(same).hexdigest())
    response.cache_control.private = True
    response.cache_control.no_cache = True
    response.vary.add("Cookie")
    response.make_conditional(request)  # in place
    return response
