"""Pages of the docs as HTML: headings with anchors, links between files as links between addresses."""

from __future__ import annotations

import posixpath
from functools import lru_cache

from flask import url_for
from markdown_it.token import Token
from markupsafe import Markup

from grader.manual.pages import Manual, Page
from grader.web.pages import markdown

# Of the repository, not of the docs.
_OUTSIDE = ("../", "http://", "https://", "mailto:", "#")


def render(manual: Manual, page: Page) -> Markup:
    """Safe HTML of a page, without its title. Made once for each page of a manual."""
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
    """What is wider than a phone is scrolled, so the keyboard must get there. (Text has no bare ``<``.)"""
    wrapped = (
        str(html)
        .replace("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>')
        .replace("</table>", "</table></div>")
    )
    return Markup(wrapped)  # noqa: S704 - cleaned by the caller


def address(name: str) -> str:
    """Where a page is served."""
    return url_for("docs.index") if name == "index" else url_for("docs.show", name=name)


def _linked(manual: Manual, page: Page, tokens: list[Token]) -> list[Token]:
    """Links that lead to routes; and where code names a file of the docs, a link to it."""
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
    """Of `docs/judging.md` in running text."""
    if token.type != "code_inline" or not token.content.startswith("docs/"):
        return ""
    return _address_of(manual, token.content.removeprefix("docs/"))


def _address_of(manual: Manual, name: str) -> str:
    if name.endswith(".md") and manual.has(name.removesuffix(".md")):
        return address(name.removesuffix(".md"))
    return url_for("docs.show", name=name) if name in manual.files else ""
