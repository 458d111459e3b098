"""Which rows of the inputs a wrong result has counted: those before its own, all, or those of a tile.

For results that share an index with inputs, such as prefix sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument
from grader.errors import GraderError
from grader.judge.explaining.questions.budget import Budget
from grader.judge.explaining.wrong import FEWEST, Pattern, Wrong
from grader.judge.oracle import right_answers

if TYPE_CHECKING:
    import torch

_TILES = (16, 32, 64, 128, 8, 256, 512, 1024)
_FEWEST_ROWS = 4
_MOST_ROWS = 1 << 15
# Share of the time for other questions.
_SHARE = 0.4
_PROBES = 5
_EXPLAINED = 16.0

# Rows that count for row ``i`` of ``n``, in tiles of ``t``.
_ROWS: tuple[tuple[Callable[[int, int], Sequence[int]], str], ...] = (
    (lambda i, n: range(n), "all rows count, later ones too"),
    (lambda i, n: range(i + 1), "only the rows up to i count, no later one"),
    (lambda i, n: range(i), "only the rows before i count, and not row i itself"),
    (lambda i, n: range(i, n), "only row i and later ones count, none before it"),
    (lambda i, n: range(i + 1, n), "only the rows after i count"),
    (lambda i, n: [*range(i), *range(i + 1, n)], "all rows but i count"),
    (lambda i, n: range(min(i + 2, n)), "the rows up to i + 1 count, one too many"),
    (lambda i, n: range(n - 1), "the last row does not count: does a loop end one too early?"),
    (lambda i, n: range(1, n), "the first row does not count: does a loop begin one too late?"),
    (lambda i, n: range(1, i + 1), "row 0 does not count: does a loop begin one too late?"),
)
_TILED: tuple[tuple[Callable[[int, int, int], Sequence[int]], str], ...] = (
    (
        lambda i, n, t: [*range(i // t * t), *range(max(i // t * t, i - t // 2 + 1), i + 1)],
        "only {half} of its own tile of {tile} count, up to i, and all of the tiles before: does a scan of the tile "
        "lack its last step, the one over {half}?",
    ),
    (
        lambda i, n, t: [j for j in range(i + 1) if j > i - t // 2 or (j < i // t * t and j % t >= t // 2)],
        "only the last {half} up to i count, and of each tile of {tile} before its own the last {half}: does a scan of "
        "the tile lack its last step, the one over {half}?",
    ),
    (
        lambda i, n, t: range(i // t * t, min(n, i // t * t + t)),
        "only the rows of its own tile of {tile} count",
    ),
    (lambda i, n, t: range(i // t * t, i + 1), "only the rows of its own tile of {tile} count, up to i"),
    (lambda i, n, t: range(i // t * t), "only the tiles of {tile} before its own count"),
    (
        lambda i, n, t: range(min(n, i // t * t + t)),
        "all rows up to the end of its own tile of {tile} count, later ones too",
    ),
    (lambda i, n, t: range(n // t * t), "rows of the last, partial tile of {tile} do not count"),
    (lambda i, n, t: range(min(t, n)), "only the first {tile} rows count"),
    (lambda i, n, t: range((n - 1) // t * t, n), "only the last tile of {tile} rows counts"),
    (lambda i, n, t: range(max(0, i - t + 1), i + 1), "only the last {tile} rows up to i count"),
)


def _choices() -> Iterator[tuple[Callable[[int, int], Sequence[int]], str]]:
    yield from _ROWS
    for tile in _TILES:
        for choice, words in _TILED:
            yield partial(_of_tile, choice, tile), words.format(tile=tile, half=tile // 2)


def _of_tile(
    choice: Callable[[int, int, int], Sequence[int]], tile: int, row: int, extent: int
) -> Sequence[int]:
    return choice(row, extent, tile)


@dataclass(frozen=True)
class Rows:
    challenge: Challenge
    case: Case
    inputs: Mapping[str, torch.Tensor]
    result: Wrong

    def counted(self) -> Pattern | None:
        if self.result.got.numel() != self.result.want.numel() or not self.result.want.is_floating_point():
            return None
        budget = Budget(limits.OTHER_QUESTIONS_SECONDS * _SHARE)
        for axis, size in enumerate(self.result.argument.shape):
            if self._is_index(size) and (found := self._along(size, axis, budget)) is not None:
                return found
        return None

    def _is_index(self, size: str) -> bool:
        """True if nothing else depends on ``size``."""
        if not _FEWEST_ROWS <= self.case.sizes.get(size, 0) <= _MOST_ROWS:
            return False
        manifest = self.challenge.manifest
        for arg in manifest.buffers:
            if list(arg.shape).count(size) > 1 or any(
                size in parse(text).names for text in arg.shape if text != size
            ):
                return False
        return any(size in arg.shape and arg.name in self.inputs for arg in manifest.given)

    def _along(self, size: str, axis: int, budget: Budget) -> Pattern | None:
        import torch

        extent, shape = self.case.sizes[size], self.result.shape
        if axis >= len(shape) or shape[axis] != extent or math.prod(shape) != self.result.got.numel():
            return None  # or only a part of the result counts
        got, want, wrong = (
            values.reshape(shape).movedim(axis, 0).reshape(extent, -1)
            for values in (self.result.got, self.result.want, self.result.wrong)
        )
        usable = wrong.any(dim=1) & torch.isfinite(got).all(dim=1) & torch.isfinite(want).all(dim=1)
        rows = torch.nonzero(usable).reshape(-1).tolist()
        if len(rows) < 2 or torch.unique(got[usable]).numel() < FEWEST:
            return None  # a single value has many reasons
        probes = [rows[place * (len(rows) - 1) // (_PROBES - 1)] for place in range(_PROBES)]
        # At the ends, several choices are the same.
        probes = list(dict.fromkeys(sorted(probes, key=lambda row: abs(row - rows[len(rows) // 2]))))
        mixed = self._mixed(size, axis, probes[0])
        if not mixed:
            return None
        for choice, words in _choices():
            if budget.spent:
                return None
            compared = 0
            for row in probes:
                kept = list(choice(row, extent))
                if not kept:
                    continue
                answer = self._row(size, axis, row, kept, mixed)
                if answer is None or not self._explains(got[row], want[row], answer):
                    break
                compared += 1
            else:
                if compared >= 2:
                    names, unit = " and ".join(arg.name for arg in mixed), "row"
                    if all(len(arg.shape) == 1 for arg in mixed):
                        unit, words = "element", words.replace("row", "element")
                    end = "" if words.endswith("?") else "."
                    text = f"The result is right if for each {unit} i along {size}, of {names} {words}{end}"
                    return Pattern("rows_counted", text, names=tuple(arg.name for arg in mixed))
        return None

    def _explains(self, got: torch.Tensor, want: torch.Tensor, answer: torch.Tensor) -> bool:
        if not self.result.agrees(got, answer) or self.result.agrees(got, want):
            return False
        off = (got.double() - want.double()).abs().max()
        return bool((got.double() - answer.double()).abs().max() * _EXPLAINED <= off)

    def _given(self, size: str) -> list[Argument]:
        return [arg for arg in self.challenge.manifest.given if arg.name in self.inputs and size in arg.shape]

    def _mixed(self, size: str, axis: int, row: int) -> list[Argument]:
        """Arguments of which other rows count for ``row``."""
        import torch

        found = []
        extent = self.case.sizes[size]
        before = self._row(size, axis, row, list(range(extent)), self._given(size), last=False)
        for arg in self._given(size):
            values, along = self.inputs[arg.name], arg.shape.index(size)
            if not values.is_floating_point():
                continue
            others = torch.tensor([place for place in range(extent) if place != row][: (extent + 1) // 2])
            moved = values.index_select(along, others) * -0.5 + 0.25
            changed = values.index_copy(along, others, moved.to(values.dtype))
            other = replace(self, inputs={**self.inputs, arg.name: changed})
            after = other._row(size, axis, row, list(range(extent)), self._given(size), last=False)
            if before is None or after is None:
                return []
            if not bool(((before == after) | (before.isnan() & after.isnan())).all()):
                found.append(arg)
        return found

    def _row(
        self, size: str, axis: int, row: int, kept: list[int], mixed: list[Argument], *, last: bool = True
    ) -> torch.Tensor | None:
        """The last of the rows ``kept``, or row ``row``."""
        given = dict(self.inputs)
        for arg in self._given(size):
            rows = kept if arg in mixed else [row] * len(kept)
            given[arg.name] = self.inputs[arg.name][
                (slice(None),) * arg.shape.index(size) + (rows,)
            ].contiguous()
        asked = replace(self.case, sizes={**self.case.sizes, size: len(kept)})
        try:
            answer = right_answers(self.challenge, asked, given)[self.result.argument.name]
        except (GraderError, RuntimeError):
            return None
        return answer.movedim(axis, 0)[-1 if last else row].reshape(-1)
