"""Splits Markdown into sections with anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"(#{1,6}) +(.+?)(?: +#+)? *$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[`*]|</?(?:kbd|br|details|summary)\b[^>]*>")


@dataclass(frozen=True)
class Section:
    """Up to the next heading. ``level``: 1 for the page's title."""

    level: int
    title: str
    anchor: str
    text: str


class Anchors:
    """As on GitHub, so links work in both places."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def name(self, title: str) -> str:
        """``What `check` reports`` gives ``what-check-reports``; a repeated title gets ``-1``."""
        plain = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = self._seen.get(plain, 0)
        self._seen[plain] = count + 1
        return f"{plain}-{count}" if count else plain


def split(text: str) -> list[Section]:
    """Without text before the first heading."""
    anchors, found = Anchors(), []
    for heading, lines in _parts(text):
        marks, title = heading
        shown = plain(title)
        found.append(Section(len(marks), shown, anchors.name(shown), "\n".join(lines)))
    return found


def plain(text: str) -> str:
    """Links as text, code without backticks."""
    return _MARKS.sub("", _LINK.sub(r"\1", text)).strip()


def _parts(text: str) -> Iterator[tuple[tuple[str, str], list[str]]]:
    heading: tuple[str, str] | None = None
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        fence = _fence_after(fence, line)
        found = None if fence else _HEADING.match(line)
        if found is None:
            lines.append(line)
            continue
        if heading is not None:
            yield heading, lines
        heading, lines = (found[1], found[2]), []
    if heading is not None:
        yield heading, lines


def _fence_after(fence: str, line: str) -> str:
    """Or "". A block ends with the same kind of fence, at least as long."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    closes = found[1][0] == fence[0] and len(found[1]) >= len(fence) and not line.strip(" `~")
    return "" if closes else fence
