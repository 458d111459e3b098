"""Only our own text is highlighted here: a regex lexer can be kept busy for minutes. static/built/listing.js does
students'."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from grader import limits
from grader.languages import LANGUAGES


def listing(source: str, marks: Mapping[int, tuple[int, int]] | None = None) -> Markup:
    """Style draws numbers, so copying omits them. ``marks``: last line -> a thread's number and comments."""
    whole = lines(source)
    numbered = [
        f'<span id="L-{number}">{escape(line)}</span>{_mark(number, (marks or {}).get(number))}'
        for number, line in enumerate(whole[: limits.LISTED_LINES], 1)
    ]
    rest = escape("\n".join(whole[limits.LISTED_LINES :]))
    return Markup("\n".join([*numbered, rest] if rest else numbered))  # noqa: S704 - escaped line by line


def _mark(line: int, mark: tuple[int, int] | None) -> str:
    if mark is None:
        return ""
    thread, count = mark
    about = f"Line {line}: {count} {'comment' if count == 1 else 'comments'}"
    return f'<a class="remark" href="#thread-{thread}" data-count="{count}" aria-label="{about}"></a>'


def lines(source: str) -> list[str]:
    """Without empty lines at the end."""
    return source.rstrip("\n").split("\n")


def count(source: str) -> int:
    return min(source.rstrip("\n").count("\n") + 1, limits.LISTED_LINES)


@lru_cache(maxsize=256)
def inline(source: str, language: str) -> Markup:
    """Never a student's. ``language``: ours, or Pygments'."""
    try:
        row = LANGUAGES.get(language)
        lexer = get_lexer_by_name(row.lexer if row else language, stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    return Markup(highlight(source, lexer, HtmlFormatter(nowrap=True)))  # noqa: S704 - Pygments escapes what it marks


def numbered(source: str, language: str) -> Markup:
    """``inline``, each line in an element that the style sheet numbers."""
    # Pygments closes and opens spans at each end of a line.
    marked = str(inline(source.rstrip("\n"), language)).rstrip("\n").split("\n")
    return Markup("\n".join(f'<span class="line">{line}</span>' for line in marked))  # noqa: S704 - as in inline
