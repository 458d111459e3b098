"""Why nothing wrote an element, as far as the emulated GPU shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.judge.messages import Reason, Would
from grader.judge.worst import index_of

# Of a quoted line.
_MOST_CHARS = 60
_LOOPS = ("for", "while", "do", "}")


@dataclass(frozen=True)
class Absent:
    """``place``: flat. ``programs``: say "program" for Triton."""

    array: str
    shape: tuple[int, ...]
    place: int
    would: Would
    programs: bool

    @property
    def wanted(self) -> dict[str, Any]:
        """For ``RunnerClient.recorded_call``."""
        would = self.would.model_dump(
            include={"work", "size", "block", "thread", "like", "like_block", "like_thread"}
        )
        return {**would, "array": self.array, "place": self.place}

    def sentence(self, reason: Reason | None, source: str) -> str:
        """``reason``: from running the block again."""
        if not self.would.exists:
            return self._beyond_the_grid()
        who = self._who(self.would.block, self.would.thread)
        like = f"{self._who(self.would.like_block, self.would.like_thread)} writes {self._element(self.would.like)}"
        if reason is None:
            return f"By the index with which {like}, {who} would write it, and does not."
        text = _text(source, reason.line)
        # Compilers replace a loop's counters.
        compared = ""
        if len(reason.compared) == 2 and not text.startswith(_LOOPS):
            compared = f", comparing {reason.compared[0]:,} with {reason.compared[1]:,}"
        store = f"its store in line {reason.store_line}"
        if reason.how == "elsewhere":
            return f"{_capital(who)} would write it, but {self._stores(reason)}; {like}."
        if reason.how == "mask":
            at = f" (line {reason.line})" if reason.line != reason.store_line else ""
            what = "the mask" if self.programs else "the condition"
            return (
                f"{_capital(who)} would write it, but {what} of {store} is false there{at}{compared}; {like}."
            )
        at = f"line {reason.line}" + (f" (`{text}`)" if text else "")
        if reason.line == reason.store_line:
            store = "its store"
        return f"{_capital(who)} would write it, but {at} keeps it from {store}{compared}; {like}."

    def _beyond_the_grid(self) -> str:
        unit, would = "program" if self.programs else "block", self.would
        count = would.grid[0] * would.grid[1] * would.grid[2]
        has = f"{_sizes(would.grid)} {unit}{'s' if count != 1 else ''}"
        if self.would.block == (0, 0, 0) and not self.programs:
            return (
                f"No thread covers it: by the index that the others use, thread {_index(would.thread)} would write "
                f"it, and {would.kernel} runs as 1 block of {_sizes(would.threads)} threads."
            )
        return (
            f"No {unit} covers it: the grid of {would.kernel} has {has}, and by the index that the others use, "
            f"{unit} {_index(would.block)} would write it."
        )

    def _stores(self, reason: Reason) -> str:
        total = 1
        for size in self.shape:
            total *= size
        named = [
            self._element(place) if 0 <= place < total else f"a place outside {self.array}"
            for place in reason.elements
        ]
        if reason.stores == 1:
            return f"its store in line {reason.store_line} goes to {named[0]}"
        more = reason.stores - len(named)
        others = [f"{more:,} more"] if more > 0 else []
        return f"its stores in line {reason.store_line} go to {', '.join([*named, *others])}"

    def _who(self, block: Sequence[int], thread: Sequence[int]) -> str:
        if self.programs:
            return f"program {_index(block)}"
        return f"thread {_index(thread)} of block {_index(block)}"

    def _element(self, place: int) -> str:
        return f"{self.array}{index_of(place, self.shape)}"


def _text(source: str, line: int) -> str:
    lines = source.splitlines()
    text = lines[line - 1].strip().rstrip(" {:") if 0 < line <= len(lines) else ""
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS].rstrip()}..."


def _index(index: Sequence[int]) -> str:
    """(3, 0, 0) is 3, (3, 1, 0) is (3, 1)."""
    x, y, z = index
    return str(x) if y == z == 0 else f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def _sizes(grid: Sequence[int]) -> str:
    x, y, z = grid
    return f"{x:,}" if y == z == 1 else f"{x:,} x {y:,}" if z == 1 else f"{x:,} x {y:,} x {z:,}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
