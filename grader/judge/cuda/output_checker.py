"""Checks a timed call's results with our kernels."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from grader.challenge.model import Kind
from grader.challenge.numbers import encode
from grader.challenge.tolerance import Allowance
from grader.judge.arena import Arena, Buffer, Shards
from grader.judge.compare import LATE, compare, counted, forbidden_write, written_padding
from grader.judge.cuda import kernels
from grader.judge.cuda.memory import Staging
from grader.judge.oracle import Question
from grader.schemas.report import Mismatch

# Random elements in equal parts: no two adjacent parts (1/30,000 of the work) can be late unseen. Takes some 17 us on
# an H200.
_SPOTS = 1 << 16


@dataclass(frozen=True)
class _Part:
    """Begins at the flat place ``first`` of the result."""

    buffer: Buffer
    first: int
    spots: Spots
    snapshot: torch.Tensor


def _parts(buffer: Buffer) -> list[tuple[Buffer, int]]:
    if not isinstance(buffer, Shards):
        return [(buffer, 0)]
    return [(part, number * part.count) for number, part in enumerate(buffer.each)]


def _like(buffer: Buffer) -> torch.Tensor:
    if isinstance(buffer, Shards):
        return torch.empty(buffer.count, dtype=buffer.dtype, device="meta")
    return buffer.dense_words


def _share(words: torch.Tensor, part: Buffer, first: int) -> torch.Tensor:
    return words[first : first + part.count] if first or part.count < words.numel() else words


class CudaOutputChecker:
    """Each check is one pass that copies its reads; suspects are compared exactly on the copy, after the window."""

    def __init__(self, arena: Arena, staging: Staging) -> None:
        self._arena = arena
        self._results = arena.of_kind(Kind.INOUT, Kind.OUTPUT)
        # Words without padding.
        self._snapshots = {
            buffer.argument.name: staging.room(f"snapshot {buffer.argument.name}", _like(buffer))
            for buffer in self._results
        }
        # Copies of results that are not dense.
        self._dense = {
            buffer.argument.name: torch.empty(buffer.count, dtype=buffer.dtype, device="cuda")
            for buffer in self._results
            if buffer.strides is not None
        }
        for buffer in self._results:
            if buffer.strides is not None:
                buffer.read_into(self._dense[buffer.argument.name].view(buffer.shape))  # loads its kernel
        self._parts = [
            _Part(part, first, Spots(snapshot), snapshot)
            for buffer in self._results
            for part, first in _parts(buffer)
            for snapshot in [_share(self._snapshots[buffer.argument.name], part, first)]
        ]
        blocks = [
            kernels.check_blocks(count, at_spots=spots)
            for part in self._parts
            for count, spots in ((part.spots.count, True), (part.snapshot.numel(), False))
        ]
        # Atomic additions would take time only for wrong blocks.
        self._suspects = torch.zeros(sum(blocks), dtype=torch.int32, device="cuda")
        self._shares = torch.split(self._suspects, blocks)
        self._forbidden = Forbidden(arena)
        self._spot_checks: list[Callable[[], None]] = []
        self._full_checks: list[Callable[[], None]] = []

    def aim(self, question: Question) -> None:
        self._spot_checks, self._full_checks = [], []
        shares = iter(self._shares)
        for part in self._parts:
            spots = part.spots
            spots.draw()
            at_spots, everywhere = self._aimed(part, question)
            self._spot_checks.append(functools.partial(at_spots, snapshot=spots.taken, suspects=next(shares)))
            self._full_checks.append(
                functools.partial(everywhere, snapshot=part.snapshot, suspects=next(shares))
            )

    def spot_check(self) -> None:
        spot_checks, self._spot_checks = self._spot_checks, []  # frees answers, which are large
        for spot_check in spot_checks:
            spot_check()

    def full_check(self) -> None:
        full_checks, self._full_checks = self._full_checks, []
        for full_check in full_checks:
            full_check()

    def suspicious(self) -> bool:
        return bool(self._suspects.any().item()) if self._suspects.numel() else False

    def _aimed(self, part: _Part, question: Question) -> tuple[Callable[..., None], Callable[..., None]]:
        buffer, spots = part.buffer, part.spots.places
        manifest, argument = self._arena.manifest, buffer.argument
        want = question.outputs[argument.name].reshape(-1)
        scale = question.magnitudes.get(argument.name)
        number = counted(manifest, argument, question, want.numel()) - part.first
        dense, allowance = self._dense.get(argument.name), buffer.allowance
        scale = scale.reshape(-1) if scale is not None else None
        if buffer.encoded:
            # Encoded results are compared as values after the window: decoding takes torch's kernels, which may not be
            # loaded while the stream is held.
            want, scale, allowance = encode(want, argument.dtype), None, Allowance()
            number = -(-number // argument.dtype.facts.packed)
        elif buffer.count != want.numel():
            here = slice(part.first, part.first + buffer.count)
            want, scale = want[here], scale[here] if scale is not None else None
        poison = buffer.never_written

        def check(got: torch.Tensor, **how: Any) -> None:
            kernels.full_check(got, number, want, scale, allowance=allowance, poison=poison, **how)

        at_spots = functools.partial(check, buffer.words, spots=spots)
        if dense is None:
            return at_spots, functools.partial(check, buffer.words)

        def read_and_check(**how: Any) -> None:
            buffer.read_into(dense.view(buffer.shape))
            check(dense, **how)

        # Copying all elements first would cost as much as a call.
        return functools.partial(at_spots, held=buffer.held_at(spots)), read_and_check

    def explain(self, question: Question) -> Mismatch | None:
        """If the full check is right, the spot check was not."""
        if found := compare(self._arena, self._values(), question):
            return found
        for part in self._parts:
            part.spots.put_back()
        found = compare(self._arena, self._values(), question)
        return found and found.model_copy(update={"kind": LATE})

    def _values(self) -> dict[str, torch.Tensor]:
        return {
            buffer.argument.name: buffer.values_of(self._snapshots[buffer.argument.name])
            for buffer in self._results
        }

    def forbidden_write(self, question: Question, *, inputs: bool = True) -> Mismatch | None:
        return self._forbidden.seen(question, inputs)


class Forbidden:
    """Memory that a call must not write. All checks share one result: one by one would take longer than a round."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._guards = [(buffer, *guard) for buffer in arena.pieces() for guard in buffer.guards()]
        self._inputs = [part for buffer in arena.of_kind(Kind.INPUT) for part in _parts(buffer)]
        sizes = [zone.numel() for _, zone, _ in self._guards]
        sizes += [buffer.dense_words.numel() for buffer, _ in self._inputs]
        blocks = [kernels.check_blocks(size) for size in sizes]
        self._numbers = torch.zeros(sum(blocks), dtype=torch.int32, device="cuda")
        self._shares = torch.split(self._numbers, blocks)

    def seen(self, question: Question, inputs: bool) -> Mismatch | None:
        """A write counts even if undone."""
        for buffer in self._arena.buffers.values():
            if (found := written_padding(buffer)) is not None:
                return found
        shares = iter(self._shares)
        for _, zone, untouched in self._guards:
            kernels.differ(zone, untouched, next(shares))
        for buffer, first in self._inputs if inputs else ():
            words = encode(question.inputs[buffer.argument.name], buffer.argument.dtype)
            held = buffer.dense_words
            kernels.differ(held, words[first : first + held.numel()], next(shares))
        if not (self._numbers.numel() and self._numbers.any().item()):
            return None
        return forbidden_write(self._arena, question) or self._summary()

    def _summary(self) -> Mismatch:
        owners = [(buffer, "out_of_bounds") for buffer, _, _ in self._guards]
        owners += [(buffer, "input_changed") for buffer, _ in self._inputs]
        numbers = [int(share.sum()) for share in self._shares]
        buffer, kind, wrong = next(
            (*owner, number) for owner, number in zip(owners, numbers, strict=True) if number
        )
        return Mismatch(argument=buffer.label, kind=kind, wrong=wrong, total=buffer.count)


class Spots:
    """A random element of each of ``_SPOTS`` equal parts."""

    def __init__(self, snapshot: torch.Tensor) -> None:
        self._snapshot, count = snapshot, snapshot.numel()
        self._part = max(1, -(-count // _SPOTS))
        self.count = -(-count // self._part)
        self._last = count - 1
        self._first = torch.arange(self.count, device="cuda") * self._part
        self._chance = torch.Generator("cuda").manual_seed(secrets.randbits(63))
        self.places = self._first.clone()
        self.taken = torch.empty(self.count, dtype=snapshot.dtype, device="cuda")

    def draw(self) -> None:
        within = torch.randint(self._part, self._first.shape, generator=self._chance, device="cuda")
        torch.add(self._first, within, out=self.places).clamp_(max=self._last)

    def put_back(self) -> None:
        """Restore the values that the spot check saw."""
        self._snapshot[self.places] = self.taken
