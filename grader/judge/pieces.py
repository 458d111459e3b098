"""The right answer of a case that is too large for float64 copies of all its inputs: piece by piece.

``[pieces]`` of ``challenge.toml`` says how (``grader.challenge.model.Pieces``). What comes out is what the reference
gives for the whole, but for the order of float64 additions where results are sums over the pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.expression import parse
from grader.challenge.model import Argument, Manifest, Pieces

if TYPE_CHECKING:
    import torch

# Of the largest array in one piece. A piece's copies in float64, a dozen at most, then take some 3 GiB.
PIECE_ELEMENTS = 1 << 25

# Inputs and sizes of one piece -> the results there, in the order of the signature.
Compute = Callable[[Mapping[str, "torch.Tensor"], Mapping[str, int]], Mapping[str, "torch.Tensor"]]
# Writes values, the second, to a place of the same shape, rounded to its dtype.
Put = Callable[["torch.Tensor", "torch.Tensor"], None]


@dataclass(frozen=True)
class Cut:
    """Where a piece's results begin along the size, and how much of it its inputs have."""

    start: int
    length: int


def cuts(manifest: Manifest, pieces: Pieces, sizes: Mapping[str, int]) -> Iterator[Cut]:
    """The pieces in order. There is one at least, so that sums are made where nothing is to be cut."""
    total, overlap = sizes[pieces.along], parse(pieces.overlap).integer(sizes)
    largest = max(math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers)
    step = max(1, PIECE_ELEMENTS // max(1, largest // max(1, total)))
    if total - overlap <= step:
        yield Cut(0, total)
        return
    for start in range(0, total - overlap, step):
        yield Cut(start, min(step, total - overlap - start) + overlap)


def compute_in_pieces(
    manifest: Manifest,
    sizes: Mapping[str, int],
    inputs: Mapping[str, torch.Tensor],
    dtypes: Mapping[str, torch.dtype],
    compute: Compute,
    put: Put,
    count: Compute | None = None,
) -> dict[str, torch.Tensor]:
    """Every result, in the dtype that ``dtypes`` has for it, on the inputs' device. ``put`` writes what
    was computed there. ``count``: whose results say how many elements of a piece count, where those of ``compute`` do
    not. Raises what the two raise."""
    pieces = manifest.pieces
    assert pieces is not None
    device = next(iter(inputs.values())).device
    joined = {
        arg.name: _Joined(manifest, arg, sizes, dtypes[arg.name], device, put) for arg in manifest.results
    }
    for cut in cuts(manifest, pieces, sizes):
        given = {
            arg.name: _part(arg, pieces, inputs[arg.name], cut)
            for arg in manifest.buffers
            if arg.name in inputs
        }
        its_sizes = {**sizes, pieces.along: cut.length}
        found = compute(given, its_sizes)
        counts = count(given, its_sizes) if count is not None else found
        for arg in manifest.results:
            joined[arg.name].add(found[arg.name], cut, _count(manifest, arg, counts))
    return {name: it.result() for name, it in joined.items()}


def _part(arg: Argument, pieces: Pieces, values: torch.Tensor, cut: Cut) -> torch.Tensor:
    dimension = _dimension(arg, pieces)
    return values if dimension is None else values.narrow(dimension, cut.start, cut.length)


def _dimension(arg: Argument, pieces: Pieces) -> int | None:
    """The dimension of ``arg`` along which pieces are cut; None where it has none."""
    found = (place for place, text in enumerate(arg.shape) if pieces.along in parse(text).names)
    return next(found, None)


def _count(manifest: Manifest, arg: Argument, found: Mapping[str, torch.Tensor]) -> int | None:
    """How many elements of a piece's result count, where its ``compare`` names what says so."""
    rule = manifest.compare.get(arg.name)
    return None if rule is None or rule.first is None else int(found[rule.first].reshape(-1)[0])


class _Joined:
    """One result as its pieces come in."""

    def __init__(
        self,
        manifest: Manifest,
        arg: Argument,
        sizes: Mapping[str, int],
        dtype: torch.dtype,
        device: torch.device,
        put: Put,
    ) -> None:
        import torch

        assert manifest.pieces is not None
        self._dimension = _dimension(arg, manifest.pieces)
        self._running = manifest.pieces.running and self._dimension is not None
        self._dtype = dtype
        self._put = put
        self._filled = 0
        self._last: torch.Tensor | None = None
        self._sum: torch.Tensor | None = None
        if self._dimension is not None:
            self._whole = torch.zeros(manifest.shape(arg, sizes), dtype=dtype, device=device)

    def add(self, part: torch.Tensor, cut: Cut, count: int | None) -> None:
        """``part``: float64 or integers. ``count``: how many of its elements count, where not all do."""
        if self._dimension is None:
            self._sum = part if self._sum is None else self._sum + part
            return
        if self._running and part.numel():
            part = part if self._last is None else part + self._last
            self._last = part.narrow(self._dimension, part.shape[self._dimension] - 1, 1).clone()
        if count is not None:
            self._put(self._whole.view(-1)[self._filled : self._filled + count], part.reshape(-1)[:count])
            self._filled += count
            return
        self._put(self._whole.narrow(self._dimension, cut.start, part.shape[self._dimension]), part)

    def result(self) -> torch.Tensor:
        if self._dimension is not None:
            return self._whole
        import torch

        assert self._sum is not None
        whole = torch.empty(self._sum.shape, dtype=self._dtype, device=self._sum.device)
        self._put(whole, self._sum)
        return whole
