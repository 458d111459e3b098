"""Source text with its syntax marked by classes; static/code.css gives them colour."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

_LEXERS = {"cuda": "cuda", "triton": "python"}


@lru_cache(maxsize=64)
def lines(source: str, language: str) -> Markup:
    """A numbered listing. Numbers are drawn by the style sheet, so that copying takes the source alone."""
    numbered = (
        f'<span id="L-{number}">{line}\n</span>' for number, line in enumerate(split(source, language), 1)
    )
    return Markup("".join(numbered))  # noqa: S704 - each line comes escaped


@lru_cache(maxsize=64)
def split(source: str, language: str) -> tuple[Markup, ...]:
    """The lines of ``source``, marked up, without those that are empty at its end."""
    # Pygments closes its spans at each line's end.
    marked = _mark(source.rstrip("\n"), language).rstrip("\n").split("\n")
    return tuple(Markup(line) for line in marked)  # noqa: S704 - each line comes escaped


def count(source: str) -> int:
    """How many lines the listing has."""
    return source.rstrip("\n").count("\n") + 1


@lru_cache(maxsize=256)
def inline(source: str, language: str) -> Markup:
    """Marked-up text without numbers, for a <pre>."""
    return Markup(_mark(source, language))  # noqa: S704 - Pygments escapes what it marks


def _mark(source: str, language: str) -> str:
    try:
        lexer = get_lexer_by_name(_LEXERS.get(language, language), stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    return str(highlight(source, lexer, HtmlFormatter(nowrap=True)))
