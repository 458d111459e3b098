from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """ "" without rows."""
    lines = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *lines])


def code(text: object) -> str:
    """ "" if it is empty."""
    return f"`{text}`" if str(text) else ""


def unwrapped(text: str) -> str:
    """Paragraphs of one line; double backticks become single."""
    paragraphs = text.replace("\b", "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs).replace("``", "`").strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
