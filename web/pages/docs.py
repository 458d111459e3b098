from __future__ import annotations

import hashlib
import posixpath
import re
from functools import lru_cache

from flask import Blueprint, Response, make_response, redirect, render_template, request, session, url_for
from markdown_it.token import Token
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import NotFound
from grader.manual.pages import INDEX, Manual, Page
from grader.manual.search import QUERY_CHARS, search
from grader.web.access import ANYONE, open_to
from grader.web.auth.identity import viewer
from grader.web.pages import markdown
from grader.web.pages.api_reference import manual

pages = Blueprint("docs", __name__, url_prefix="/docs")

# A page with more sections lists only the larger ones.
_LISTED = 40
_CSRF = re.compile(rb'name="csrf_token" value="[^"]*"')
_PLAIN = "text/plain; charset=utf-8"


@pages.get("", strict_slashes=False)
@open_to(ANYONE)
def index() -> Response:
    """All pages, by role."""
    return _page(manual().index)


@pages.get("/search")
@open_to(ANYONE)
def find() -> Response:
    """Sections that contain every word of the search."""
    query = request.args.get("q", "").strip()[:QUERY_CHARS]
    hits = search(manual(), query)
    return _kept(_frame("docs_search.html", query=query, hits=hits, page=None))


@pages.get("/<path:name>")
@open_to(ANYONE)
def show(name: str) -> BaseResponse:
    """One page; a name with `.md` or a trailing slash redirects to it; other files are served as they are."""
    known = manual()
    plain = name.rstrip("/").removesuffix(".md")
    if (plain != name and known.has(plain)) or name == INDEX:
        return redirect(address(plain), 301)
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
            body=render(known, page),
            contents=_contents(page),
            before=before,
            after=after,
        )
    )


def _frame(template: str, **values: object) -> str:
    return render_template(template, roles=manual().roles, address=address, **values)


def _contents(page: Page) -> list[tuple[int, str, str]]:
    """Level, title and anchor: two levels, or one if there are many."""
    found = [(each.level, each.title, each.anchor) for each in page.sections if each.level in (2, 3)]
    return found if len(found) <= _LISTED else [each for each in found if each[0] == 2]


def _kept(answer: Response | str) -> Response:
    """Anonymous browsers revalidate; pages for signed-in users are not cached."""
    response = make_response(answer)
    if viewer() is not None:
        return response
    # Form tokens differ in each answer, but all are valid.
    same = _CSRF.sub(b"", response.get_data()) + str(session.get("csrf_token", "")).encode()
    response.set_etag(hashlib.sha256(same).hexdigest())
    response.cache_control.private = True
    response.cache_control.no_cache = True
    response.vary.add("Cookie")
    response.make_conditional(request)  # in place
    return response


# Not docs.
_OUTSIDE = ("../", "http://", "https://", "mailto:", "#")


def render(manual: Manual, page: Page) -> Markup:
    """Safe HTML without the title, rendered once per page of a manual."""
    return _render(manual, page.name)


@lru_cache(maxsize=256)
def _render(manual: Manual, name: str) -> Markup:
    page = manual.page(name)
    parser = markdown.parser()
    tokens = parser.parse(page.text)
    headings = [token for token in tokens if token.type == "heading_open"]
    for token, section in zip(headings, page.sections, strict=True):
        token.attrSet("id", section.anchor)
    if headings:
        del tokens[: tokens.index(headings[0]) + 3]  # the template has the title
    for token in tokens:
        if token.children:
            token.children = _linked(manual, page, token.children)
    return _reachable(markdown.clean(parser.renderer.render(tokens, parser.options, {}), own=True))


def _reachable(html: Markup) -> Markup:
    """The keyboard must reach wide blocks. (Text has no bare ``<``.)"""
    wrapped = (
        str(html)
        .replace("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>')
        .replace("</table>", "</table></div>")
    )
    return Markup(wrapped)  # noqa: S704 - cleaned by the caller


def address(name: str) -> str:
    return url_for("docs.index") if name == "index" else url_for("docs.show", name=name)


def _linked(manual: Manual, page: Page, tokens: list[Token]) -> list[Token]:
    """To routes, and from names of docs' files in code."""
    found: list[Token] = []
    inside = 0
    for token in tokens:
        inside += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type == "link_open":
            token.attrSet("href", _target(manual, page, str(token.attrGet("href"))))
        named = _named(manual, token) if not inside else ""
        if named:
            found += [Token("link_open", "a", 1, attrs={"href": named}), token, Token("link_close", "a", -1)]
        else:
            found.append(token)
    return found


def _target(manual: Manual, page: Page, href: str) -> str:
    path, _, anchor = href.partition("#")
    if not path or (href.startswith(_OUTSIDE) and not href.startswith("../")):
        return href
    name = posixpath.normpath(posixpath.join(posixpath.dirname(page.name), path))
    found = _address_of(manual, name) or href
    return f"{found}#{anchor}" if anchor and found != href else found


def _named(manual: Manual, token: Token) -> str:
    """Names such as `docs/judging.md`."""
    if token.type != "code_inline" or not token.content.startswith("docs/"):
        return ""
    return _address_of(manual, token.content.removeprefix("docs/"))


def _address_of(manual: Manual, name: str) -> str:
    if name.endswith(".md") and manual.has(name.removesuffix(".md")):
        return address(name.removesuffix(".md"))
    return url_for("docs.show", name=name) if name in manual.files else ""
