"""Pieces of Markdown that the generated pages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FROM = "<!-- Made by `make reference`; edits here are lost. -->"


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """A whole page. ``parts`` are its paragraphs, tables and headings."""
    return "\n\n".join([f"# {title}", FROM, about, *(part for part in parts if part)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; "" where there are no rows."""
    lines = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *lines])


def code(text: object) -> str:
    """As code, where there is any."""
    return f"`{text}`" if str(text) else ""


def unwrapped(text: str) -> str:
    """A docstring as paragraphs of one line each; double backticks become single ones."""
    paragraphs = text.replace("\b", "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs).replace("``", "`").strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
