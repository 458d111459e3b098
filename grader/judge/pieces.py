"""Right answers by pieces (``[pieces]`` in ``challenge.toml``), for cases too large to keep twice.

They equal the reference's whole result, except for the order of float64 additions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.challenge.cases import Case, Derived
from grader.challenge.draw import drawn_in_parts, filling_of
from grader.challenge.expression import parse
from grader.challenge.model import Argument, Manifest, Pieces

if TYPE_CHECKING:
    import torch

# A dozen float64 copies take some 3 GiB.
PIECE_ELEMENTS = 1 << 25
# A multiple of this many rows begins aligned.
_ROWS = 16

Tensors = Mapping[str, "torch.Tensor"]
# Inputs and sizes of one piece -> its results.
Compute = Callable[[Tensors, Mapping[str, int]], Tensors]


@dataclass(frozen=True)
class Cut:
    #: Where its results begin along the size.
    start: int
    #: The extent of its inputs.
    length: int


@dataclass(frozen=True)
class Piece:
    arg: Argument
    want: torch.Tensor
    scale: torch.Tensor | None
    #: Values are along this dimension from ``start`` on. None: flat, from the place ``start``.
    dimension: int | None
    start: int


def rows_of_a_piece(manifest: Manifest, pieces: Pieces, sizes: Mapping[str, int]) -> int:
    """The extent of a piece's results; the last may have less."""
    total = sizes[pieces.along]
    largest = max(math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers)
    rows = max(1, PIECE_ELEMENTS // max(1, largest // max(1, total)))
    return rows if rows < _ROWS else rows - rows % _ROWS


def cuts(manifest: Manifest, pieces: Pieces, sizes: Mapping[str, int]) -> Iterator[Cut]:
    """In order. At least one: sums need it."""
    total, overlap = sizes[pieces.along], parse(pieces.overlap).integer(sizes)
    step = rows_of_a_piece(manifest, pieces, sizes)
    if total - overlap <= step:
        yield Cut(0, total)
        return
    for start in range(0, total - overlap, step):
        yield Cut(start, min(step, total - overlap - start) + overlap)


def right_in_pieces(
    manifest: Manifest,
    sizes: Mapping[str, int],
    inputs_of: Callable[[Cut], Tensors],
    compute: Compute,
    magnitude: Compute | None = None,
) -> Iterator[Piece]:
    """Results are float64 or integers: pieces, then sums. Raises the functions' exceptions."""
    pieces = manifest.pieces
    assert pieces is not None
    outputs, scales = _Joined(manifest, pieces), _Joined(manifest, pieces)
    filled = dict.fromkeys((arg.name for arg in manifest.results), 0)
    for cut in cuts(manifest, pieces, sizes):
        given, its_sizes = inputs_of(cut), {**sizes, pieces.along: cut.length}
        found = compute(given, its_sizes)
        joined = outputs.add(found)
        scale = scales.add(magnitude(given, its_sizes)) if magnitude is not None else {}
        for arg in manifest.results:
            dimension, count = dimension_of(arg, pieces), _count(manifest, arg, found)
            if dimension is None:
                continue
            want, its_scale = joined[arg.name], scale.get(arg.name)
            if count is None:
                yield Piece(arg, want, its_scale, dimension, cut.start)
                continue
            its_scale = None if its_scale is None else its_scale.reshape(-1)[:count]
            yield Piece(arg, want.reshape(-1)[:count], its_scale, None, filled[arg.name])
            filled[arg.name] += count
    for arg in manifest.results:
        if arg.name in outputs.sums:
            yield Piece(arg, outputs.sums[arg.name], scales.sums.get(arg.name), None, 0)


def names_in_parts(manifest: Manifest, case: Case) -> set[str]:
    """Empty if an input is derived from others. Raises ChallengeInvalid."""
    pieces = manifest.pieces
    readable = [arg for arg in manifest.given if arg.name not in case.without]
    if pieces is None or any(isinstance(filling_of(manifest, case, arg), Derived) for arg in readable):
        return set()
    return {
        arg.name for arg in readable if dimension_of(arg, pieces) == 0 and drawn_in_parts(manifest, case, arg)
    }


def dimension_of(arg: Argument, pieces: Pieces) -> int | None:
    found = (place for place, text in enumerate(arg.shape) if pieces.along in parse(text).names)
    return next(found, None)


def _count(manifest: Manifest, arg: Argument, found: Tensors) -> int | None:
    """From the output that ``compare`` names."""
    rule = manifest.compare.get(arg.name)
    return None if rule is None or rule.first is None else int(found[rule.first].reshape(-1)[0])


@dataclass
class _Joined:
    manifest: Manifest
    pieces: Pieces
    #: Results that are not cut.
    sums: dict[str, torch.Tensor] = field(default_factory=dict)
    _last: dict[str, torch.Tensor] = field(default_factory=dict)

    def add(self, found: Tensors) -> dict[str, torch.Tensor]:
        """Running results continue the piece before."""
        joined = {}
        for arg in self.manifest.results:
            part, dimension = found[arg.name], dimension_of(arg, self.pieces)
            if dimension is None:
                self.sums[arg.name] = part if arg.name not in self.sums else self.sums[arg.name] + part
                continue
            if self.pieces.running and part.numel():
                part = part + self._last[arg.name] if arg.name in self._last else part
                self._last[arg.name] = part.narrow(dimension, part.shape[dimension] - 1, 1).clone()
            joined[arg.name] = part
        return joined
