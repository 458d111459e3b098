"""A course's specs may come from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import nh3
from flask import get_template_attribute
from markdown_it import MarkdownIt
from markupsafe import Markup

from grader.challenge import drawings
from grader.languages import Language
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
_ANCHORS = {f"h{level}": {"id"} for level in range(1, 7)}


@lru_cache(maxsize=256)
def render(text: str) -> Markup:
    """Drops scripts, styles, images, forms and foreign schemes; keeps <details>."""
    return clean(parser().render(text))


@lru_cache(maxsize=1024)
def remark(text: str) -> Markup:
    """No raw HTML or highlighting: a lexer can be kept busy for minutes."""
    made = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return clean(made.enable(["table", "strikethrough"]).render(text))


def clean(html: str, own: bool = False) -> Markup:
    """``own``: of this release, may name headings."""
    attributes = _ATTRIBUTES | _ANCHORS if own else _ATTRIBUTES
    safe = nh3.clean(html, tags=_TAGS, attributes=attributes, url_schemes={"http", "https", "mailto"})
    # The keyboard must reach wide blocks. nh3 writes the tag so, and text cannot contain it unescaped.
    return Markup(safe.replace("<pre>", '<pre tabindex="0">'))  # noqa: S704 - cleaned in the line above


def with_drawings(
    text: str, pictures: Mapping[str, str], rendered: Callable[[str], Markup] = render
) -> Markup:
    """``pictures``: SVG by name. Raises ChallengeInvalid."""
    drawing_of = get_template_attribute("_drawing.html", "drawing_of")

    def parts() -> Iterator[Markup]:
        end = 0
        for place in drawings.PLACED.finditer(text):
            yield rendered(text[end : place.start()])
            if place[1] in pictures:
                yield drawing_of(drawings.read(pictures[place[1]]))
            end = place.end()
        yield rendered(text[end:])

    return Markup("").join(parts())


def without_title(text: str, title: str) -> str:
    """Drops a first heading that repeats the page's."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip().lower() == title.lower() else text


def parser() -> MarkdownIt:
    """For specs and docs, with highlighting."""
    made = MarkdownIt("commonmark", {"html": True, "highlight": _highlight})
    return made.enable(["table", "strikethrough"])


def _highlight(source: str, language: str, _: str) -> str:
    known = next((each.value for each in Language if language in each.fences), language)
    return str(code.inline(source, known or "text"))
