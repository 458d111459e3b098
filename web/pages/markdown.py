"""A challenge's spec: Markdown to HTML, cleaned. Staff write it, yet a course may come from anywhere."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from grader.web.pages import code

_TEXT = {"a", "abbr", "b", "br", "code", "del", "em", "i", "kbd", "s", "span", "strong", "sub", "sup", "var"}
_BLOCKS = {"blockquote", "dd", "details", "div", "dl", "dt", "hr", "li", "ol", "p", "pre", "summary", "ul"}
_TABLES = {"table", "tbody", "td", "th", "thead", "tr"}
_TAGS = _TEXT | _BLOCKS | _TABLES | {f"h{level}" for level in range(1, 7)}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "span": {"class"},
    "code": {"class"},
    "details": {"open"},
    "ol": {"start"},
}


@lru_cache(maxsize=256)
def render(text: str) -> Markup:
    """Safe HTML. Scripts, styles, images, forms and foreign schemes are dropped; <details> is kept."""
    html = _parser().render(text)
    clean = nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"})
    return Markup(clean)  # noqa: S704 - cleaned in the line above


def without_title(text: str, title: str) -> str:
    """The spec without a first heading that repeats the page's own."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip().lower() == title.lower() else text


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "highlight": _highlight})
    return parser.enable(["table", "strikethrough"])


def _highlight(source: str, language: str, _: str) -> str:
    known = {"cpp": "cuda", "c++": "cuda", "c": "cuda", "cu": "cuda", "py": "triton", "python": "triton"}
    return str(code.inline(source, known.get(language, language or "text")))
