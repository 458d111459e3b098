"""How much of a GPU's memory judging a workload or a case takes at its height: arithmetic alone, asked before anything
is allocated. Importing this module does not import torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from grader import limits
from grader.challenge.cases import Case, Filling, drawing_bytes
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import DType, Kind, Manifest, Workload
from grader.challenge.overlays import overlays

# What a piece of a large case takes in float64 (see ``grader.judge.pieces``), and a guard's granules.
_PIECES_BYTES = 4 * limits.GIB


def workload_bytes(challenge: Challenge, workload: Workload) -> int:
    """Arena, private inputs and answers (drawn and staged), and the larger of what follows one another: drawing, and
    the oracle in float64. Of all that a round may draw, what takes most counts. Raises ChallengeInvalid."""
    fillings = [
        challenge.inputs,
        *(challenge.inputs | dict(it.inputs) for it in overlays(challenge, workload)),
    ]
    manifest, sizes = challenge.manifest, workload.sizes
    drawing = max(_drawing(challenge, sizes, it) for it in fillings)
    return _copies(manifest, sizes) + max(_oracle(manifest, sizes), drawing)


def held_bytes(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """The same as far as a signature tells, without recipes: what drawing takes beyond the oracle is not in it."""
    return _copies(manifest, sizes) + _oracle(manifest, sizes)


def case_bytes(challenge: Challenge, case: Case) -> int:
    """Of a case that is asked once, its answers computed in pieces where the challenge says how: arena, inputs, answers
    and their magnitudes, and what drawing or a piece takes. Raises ChallengeInvalid."""
    manifest, drawing = challenge.manifest, _drawing(challenge, case.sizes, case.inputs)
    if manifest.pieces is None:
        return _copies(manifest, case.sizes) + max(_oracle(manifest, case.sizes), drawing)
    needed = max(_PIECES_BYTES, drawing)
    for arg in manifest.buffers:
        answered = arg.kind is not Kind.INPUT
        copies = 1 + (arg.name in challenge.readable) + answered
        scaled = answered and challenge.reference.magnitude is not None
        scale = (8 if arg.dtype is DType.FLOAT64 else 4) if scaled else 0
        needed += math.prod(manifest.shape(arg, case.sizes)) * (copies * arg.dtype.itemsize + scale)
    return needed


def kept_bytes(challenge: Challenge) -> int:
    """What the rounds of a challenge's workloads keep in their place: arena, question and snapshot of each."""
    manifest = challenge.manifest
    buffers = [(arg, it.sizes) for it in manifest.workloads if it.on == "gpu" for arg in manifest.buffers]
    return sum(3 * arg.dtype.itemsize * math.prod(manifest.shape(arg, sizes)) for arg, sizes in buffers)


def _copies(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Of every buffer: in the arena, drawn and staged, and of results a snapshot."""
    return sum(
        (3 if arg.kind is Kind.INPUT else 4) * arg.dtype.itemsize * math.prod(manifest.shape(arg, sizes))
        for arg in manifest.buffers
    )


def _oracle(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Copies in float64, and what the reference makes of them."""
    return sum(
        (24 if arg.dtype.floating else 16) * math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers
    )


def _drawing(challenge: Challenge, sizes: Mapping[str, int], fillings: Mapping[str, Filling]) -> int:
    """Beside the inputs themselves, of which one is drawn at a time."""
    return max(_beside(challenge, sizes, fillings), default=0)


def _beside(challenge: Challenge, sizes: Mapping[str, int], fillings: Mapping[str, Filling]) -> Iterator[int]:
    manifest = challenge.manifest
    counts = {arg.name: math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers}
    for arg in manifest.buffers:
        if arg.kind is not Kind.OUTPUT:
            filling = fillings.get(arg.name) or default_recipe(manifest, arg, sizes)
            yield drawing_bytes(filling, counts[arg.name], arg.dtype.itemsize, counts)
