"""Printed after solving: rank, share of the ceiling, next challenge."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from grader.cli.terminal import out, safe
from grader.schemas.standing import Standing


def put_standing(found: Standing | None, console: Console | None = None) -> None:
    if found is None:
        return
    console = console or out()
    if line := _line(found):
        console.print(line, soft_wrap=True)
    if found.next is not None:
        title = f" ({found.next_title})" if found.next_title not in (None, found.next) else ""
        console.print(Text.assemble("Next: ", safe(found.next, "cyan"), safe(title)), soft_wrap=True)


def _line(found: Standing) -> Text:
    parts = []
    if found.rank is not None:
        other = f", with {found.entry}" if found.entry != found.submission else ""
        parts.append(f"Rank {found.rank:,} of {found.others + 1:,}{other}.")
    if found.sentence:
        parts.append(found.sentence)
    if found.percentile is not None:
        parts.append(f"Percentile {found.percentile:.0f}.")
    if found.sol is not None:
        parts.append(f"{found.sol:.0%} of the speed of light.")
    return safe(" ".join(parts))
