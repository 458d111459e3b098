"""Searches headings and text. All pages take a millisecond, so there is no index."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.manual.pages import Manual, Page
from grader.manual.sections import Section, plain

QUERY_CHARS = 100
_MOST = 30
_TITLE, _HEADING, _TEXT = 12, 6, 1
# A heading that is the whole query explains it.
_SAME = 24
# Shorter words that end in s are rarely plurals.
_LEAST_PLURAL = 5
# More repeats in one text mean little.
_REPEATS = 4
_AROUND = 90
_LAYOUT = re.compile(r"^[|\s:-]+$|^ *(`{3,}|~{3,}).*$", re.MULTILINE)
_SPACE = re.compile(r"[\s|]+")


@dataclass(frozen=True)
class Hit:
    """``excerpt``: pieces around the first word, marked or not."""

    page: Page
    section: Section
    score: int
    excerpt: tuple[tuple[str, bool], ...]


def search(manual: Manual, query: str) -> list[Hit]:
    """With every word in heading, page title or text; best first."""
    words = [_singular(word.lower()) for word in query[:QUERY_CHARS].split()]
    if not words:
        return []
    hits = [
        hit
        for page in manual.pages[1:]
        for section in page.sections
        if (hit := _hit(page, section, words)) is not None
    ]
    return sorted(hits, key=lambda hit: -hit.score)[:_MOST]


def _hit(page: Page, section: Section, words: list[str]) -> Hit | None:
    text = readable(section.text)
    scores = [_score(page, section, text.lower(), word) for word in words]
    # A page's title alone does not make its sections hits.
    own = any(word in f"{section.title} {text}".lower() for word in words)
    if not own or not all(scores):
        return None
    same = [_singular(word) for word in section.title.lower().split()] == words
    return Hit(page, section, sum(scores) + _SAME * same, tuple(_excerpt(text, words)))


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) >= _LEAST_PLURAL and not word.endswith("ss") else word


def _score(page: Page, section: Section, text: str, word: str) -> int:
    return (
        _TITLE * (section.level == 1 and word in section.title.lower())
        + _HEADING * (word in section.title.lower())
        + (word in page.title.lower())
        + _TEXT * min(text.count(word), _REPEATS)
    )


def readable(text: str) -> str:
    """In one line, for an excerpt."""
    return _SPACE.sub(" ", plain(_LAYOUT.sub(" ", text))).strip()


def _excerpt(text: str, words: list[str]) -> list[tuple[str, bool]]:
    lowered = text.lower()
    found = [at for word in words if (at := lowered.find(word)) >= 0]
    first = min(found, default=0)
    # Cuts at blanks.
    start = text.rfind(" ", 0, first - _AROUND) + 1 if first > _AROUND else 0
    end = text.find(" ", first + 2 * _AROUND)
    end = len(text) if end < 0 else end
    pieces = re.split(
        f"({'|'.join(re.escape(word) for word in words)})", text[start:end], flags=re.IGNORECASE
    )
    marked = [(piece, piece.lower() in words) for piece in pieces if piece]
    return [("… ", False)] * (start > 0) + marked + [(" …", False)] * (end < len(text))
