"""Numbers, sizes and verdicts as people read them, and the plain tables that hold them."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from grader.schemas.report import Sizes, Verdict
from grader.schemas.verdict import Tone

_COLOURS = {
    Tone.GOOD: "bold green",
    Tone.BAD: "bold red",
    Tone.OURS: "bold yellow",
    Tone.IDLE: "dim",
    Tone.BUSY: "cyan",
}
_TO_THE_RIGHT = ("speedup", "SOL", "got", "expected", "error", "allowed")


def verdict_text(verdict: Verdict) -> Text:
    """The verdict in its colour: ``WRONG ANSWER``."""
    return Text(verdict.row.title.upper(), _COLOURS[verdict.row.tone])


def factor_text(factor: float | None) -> str:
    """A speedup: ``2.50x``, ``1,200x``, ``0.0043x``; ``-`` where there is none."""
    if factor is None:
        return "-"
    return f"{factor:,.0f}x" if factor >= 99.5 else f"{factor:.2f}x" if factor >= 0.1 else f"{factor:.2g}x"


def time_text(microseconds: float) -> str:
    """A time with three digits and a fitting unit: ``12.3 µs``, ``4.56 ms``, ``1.20 s``."""
    for unit, scale in (("µs", 1.0), ("ms", 1e3), ("s", 1e6)):
        value = microseconds / scale
        if value < 999.5 or unit == "s":
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{digits}f} {unit}"
    raise AssertionError("the last unit takes every value")


def sizes_text(sizes: Sizes | None) -> str:
    """Sizes in one line: ``m=16 n=1,024``."""
    return " ".join(f"{name}={value:,}" for name, value in (sizes or {}).items())


def table(title: str, *columns: str) -> Table:
    """A table without lines; ``title`` may be empty."""
    shown = f"\n{title}" if title else None
    made = Table(title=shown, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        made.add_column(name, header_style="dim", justify="right" if name in _TO_THE_RIGHT else "left")
    return made


def whole(text: Text) -> Text:
    """``text`` with lines that are never broken: commands are copied, and compilers align with spaces."""
    text.no_wrap = True
    text.overflow = "ignore"
    return text


def indent(text: str, by: str = "  ") -> str:
    return "\n".join(by + line for line in text.rstrip().splitlines())
