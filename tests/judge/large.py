"""Large cases as a whole; the judge only ever has a piece."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import torch

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.judge.arena import Arena
from grader.judge.large import LargeQuestion
from grader.judge.oracle import Question, scalar_values


@contextlib.contextmanager
def arena_of(challenge: Challenge, case: Case) -> Iterator[Arena]:
    with contextlib.closing(
        Arena(challenge.manifest, case.sizes, scalar_values(challenge.manifest, case))
    ) as arena:
        yield arena


def inputs_of(arena: Arena) -> dict[str, torch.Tensor]:
    found = arena.of_kind(Kind.INPUT, Kind.INOUT)
    return {finding.argument.name: finding.snapshot() for finding in found}


def put_together(challenge: Challenge, case: Case, seed: int) -> Question:
    question = LargeQuestion(challenge, case, seed, "cpu")
    with arena_of(challenge, case) as arena:
        arena.reveal(question.inputs)
        inputs = inputs_of(arena)
    manifest = challenge.manifest
    outputs: dict[str, torch.Tensor] = {}
    magnitudes: dict[str, torch.Tensor] = {}
    for piece in question.right():
        for kind, values in ((outputs, piece.want), (magnitudes, piece.scale)):
            if values is None:
                continue
            shape = manifest.shape(piece.arg, case.sizes)
            shape = (*shape, *values.shape[len(shape) :])  # complex numbers have two parts
            whole = kind.setdefault(piece.arg.name, torch.zeros(shape, dtype=values.dtype))
            if piece.dimension is None:
                whole.view(-1)[piece.start : piece.start + values.numel()] = values.reshape(-1)
            else:
                whole.narrow(piece.dimension, piece.start, values.shape[piece.dimension]).copy_(values)
    return Question(inputs, outputs, magnitudes)


def answered(arena: Arena, answers: Mapping[str, torch.Tensor]) -> Arena:
    for name, values in answers.items():
        arena.buffers[name].write(values.contiguous())
    return arena
