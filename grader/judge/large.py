"""A case too large for the judge's memory: inputs are drawn by pieces, to reveal and again to check; answers are
computed by pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.challenge.cases import Case
from grader.challenge.checker import Checker
from grader.challenge.draw import InputInParts, draw_inputs
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.judge.arena import Arena, Buffer
from grader.judge.compare import (
    Tally,
    broken_guard,
    changed_part,
    compare_piece,
    compared_part,
    explained_part,
    part_of,
    refusal,
)
from grader.judge.oracle import NARROW_SCALE, OUTPUT, natives, results_of, scalar_values
from grader.judge.phases import phase
from grader.judge.pieces import (
    Compute,
    Cut,
    Piece,
    Tensors,
    cuts,
    dimension_of,
    names_in_parts,
    right_in_pieces,
    rows_of_a_piece,
)
from grader.judge.scales import scales_of
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch


class LargeInputs:
    """For a challenge with ``[pieces]``. Drawing raises ChallengeInvalid and torch's OutOfMemoryError."""

    def __init__(self, challenge: Challenge, case: Case, seed: int, device: str) -> None:
        manifest = challenge.manifest
        assert manifest.pieces is not None
        rows = rows_of_a_piece(manifest, manifest.pieces, case.sizes)
        names = names_in_parts(manifest, case)
        self._in_parts = [
            InputInParts(manifest, case, arg, seed, device, rows)
            for arg in manifest.given
            if arg.name in names
        ]
        self._whole = draw_inputs(manifest, case, seed, device, without=names)
        self._dimensions = {arg.name: dimension_of(arg, manifest.pieces) for arg in manifest.buffers}

    def write_to(self, buffers: Mapping[str, Buffer]) -> None:
        for name, first, values in self._all():
            buffers[name].write(values, first)

    def changed(self, buffers: Mapping[str, Buffer]) -> Mismatch | None:
        tallies = {name: Tally() for name, buffer in buffers.items() if buffer.argument.kind is Kind.INPUT}
        for name, first, values in self._all():
            if name in tallies:
                tallies[name].add(changed_part(buffers[name], values.reshape(-1), first), values.numel())
        return _first(tallies)

    def of_piece(self, cut: Cut) -> dict[str, torch.Tensor]:
        """Fast if pieces are asked for in order."""
        found = {argument.arg.name: argument.rows(cut.start, cut.length) for argument in self._in_parts}
        for name, values in self._whole.items():
            dimension = self._dimensions[name]
            found[name] = values if dimension is None else values.narrow(dimension, cut.start, cut.length)
        return found

    def _all(self) -> Iterator[tuple[str, int, torch.Tensor]]:
        for name, values in self._whole.items():
            yield name, 0, values
        for argument in self._in_parts:
            first = 0
            for part in argument.parts():
                yield argument.arg.name, first, part
                first += part.numel()


class LargeQuestion:
    """Raises as ``LargeInputs``."""

    def __init__(self, challenge: Challenge, case: Case, seed: int, device: str) -> None:
        self._challenge, self._case = challenge, case
        self.inputs = LargeInputs(challenge, case, seed, device)

    def examine(self, arena: Arena) -> Mismatch | None:
        forbidden = broken_guard(arena) or self.inputs.changed(arena.buffers)
        if forbidden is not None:
            return forbidden
        if self._challenge.checker is not None:
            return self._checked(arena, self._challenge.checker)
        tallies = {arg.name: Tally() for arg in arena.manifest.results}
        for piece in self.right():
            found = compare_piece(arena.buffers[piece.arg.name], piece)
            tallies[piece.arg.name].add(found, piece.want.numel())
        return _first(tallies)

    def _checked(self, arena: Arena, checker: Checker) -> Mismatch | None:
        """The checker decides on each differing piece as on a separate case."""
        manifest, sizes = self._challenge.manifest, self._case.sizes
        pieces = manifest.pieces
        assert pieces is not None
        compute, scales = self._challenge.reference.compute, scales_of(self._challenge)
        for cut in cuts(manifest, pieces, sizes):
            given, its_sizes = self.inputs.of_piece(cut), {**sizes, pieces.along: cut.length}
            right = self._computed(compute)(given, its_sizes)
            scale = {} if scales is None else self._computed(scales)(given, its_sizes)
            got, want, wrong = {}, {}, ""
            for arg in manifest.results:
                buffer, along = arena.buffers[arg.name], dimension_of(arg, pieces)
                assert along is not None
                want[arg.name] = right_part = OUTPUT.rounded(arg, right[arg.name])
                its_scale = NARROW_SCALE.rounded(arg, scale[arg.name]) if arg.name in scale else None
                piece = Piece(arg, right_part, its_scale, along, cut.start)
                got[arg.name] = part_of(buffer, piece)
                compared = compared_part(buffer, got[arg.name], piece)
                if compared.unwritten.any():
                    return explained_part(buffer, replace(compared, wrong=compared.unwritten), piece)
                if not wrong and compared.wrong.any():
                    wrong = arg.name
            if not wrong:
                continue
            scalars = scalar_values(manifest, self._case)
            got, want = natives(manifest, got), natives(manifest, want)
            refused = checker({**natives(manifest, given), **scalars, **its_sizes}, got, want)
            if refused is not None:
                name = refused.result or wrong
                along = dimension_of(arena.buffers[name].argument, pieces)
                assert along is not None
                return refusal(refused, name, got[name], want[name], along, cut.start)
        return None

    def right(self) -> Iterator[Piece]:
        challenge = self._challenge
        compute, magnitude = challenge.reference.compute, scales_of(challenge)
        for piece in right_in_pieces(
            challenge.manifest,
            self._case.sizes,
            self.inputs.of_piece,
            self._computed(compute),
            None if magnitude is None else self._computed(magnitude),
        ):
            want = OUTPUT.rounded(piece.arg, piece.want)
            scale = None if piece.scale is None else NARROW_SCALE.rounded(piece.arg, piece.scale)
            yield Piece(piece.arg, want, scale, piece.dimension, piece.start)

    def _computed(self, function: Callable[..., Any]) -> Compute:
        def compute(given: Tensors, sizes: Mapping[str, int]) -> Tensors:
            with phase("oracle", enqueues=True):
                return results_of(self._challenge, self._case, function, given, sizes)

        return compute


def _first(tallies: Mapping[str, Tally]) -> Mismatch | None:
    return next((found for tally in tallies.values() if (found := tally.mismatch()) is not None), None)
