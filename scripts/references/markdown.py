from __future__ import annotations

from collections.abc import Iterable

FROM = "<!-- Made by `make reference`; edits here are lost. -->"


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """``parts``: paragraphs, tables and headings."""
    return "\n\n".join([f"# {title}", FROM, about, *(part for part in parts if part)]) + "\n"
