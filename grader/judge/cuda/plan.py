"""How much of a GPU's memory judging a workload or a case takes at its height: arithmetic alone, asked before anything
is allocated. Importing this module does not import torch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from grader import limits
from grader.challenge.cases import Case, Filling, drawing_bytes
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Manifest, Workload
from grader.challenge.overlays import overlays
from grader.judge.pieces import names_in_parts

# What a piece of a large case takes, drawn and in float64 (see ``grader.judge.pieces``), and a guard's granules.
_PIECES_BYTES = 4 * limits.GIB


def workload_bytes(challenge: Challenge, workload: Workload) -> int:
    """Arena, private inputs and answers (drawn and staged), and the larger of what follows one another: drawing, and
    the oracle in float64. Of all that a round may draw, what takes most counts. Raises ChallengeInvalid."""
    fillings = [
        challenge.inputs,
        *(challenge.inputs | dict(overlay.inputs) for overlay in overlays(challenge, workload)),
    ]
    manifest, sizes = challenge.manifest, workload.sizes
    drawing = max(_drawing(challenge, sizes, filling) for filling in fillings)
    return _copies(manifest, sizes) + max(_oracle(manifest, sizes), drawing)


def held_bytes(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """The same as far as a signature tells, without recipes: what drawing takes beyond the oracle is not in it."""
    return _copies(manifest, sizes) + _oracle(manifest, sizes)


def case_bytes(challenge: Challenge, case: Case) -> int:
    """Of a case that is asked once. Where the challenge says how it is computed in pieces: its shared buffers, the
    inputs that have to be held whole and what drawing them takes, and a piece. Raises ChallengeInvalid."""
    manifest, sizes = challenge.manifest, case.sizes
    if manifest.pieces is None:
        return _copies(manifest, sizes) + max(
            _oracle(manifest, sizes), _drawing(challenge, sizes, case.inputs)
        )
    whole = [
        argument
        for argument in manifest.buffers
        if argument.name in challenge.readable - names_in_parts(manifest, case)
    ]
    beside = dict(_beside(challenge, sizes, case.inputs))
    drawing = max((beside[argument.name] for argument in whole), default=0)
    return own_bytes(manifest, sizes) + _bytes(whole, manifest, sizes) + max(_PIECES_BYTES, drawing)


def own_bytes(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """What a kernel's own arrays take."""
    return _bytes(manifest.buffers, manifest, sizes)


def _bytes(args: Iterable[Argument], manifest: Manifest, sizes: Mapping[str, int]) -> int:
    return sum(argument.dtype.itemsize * math.prod(manifest.shape(argument, sizes)) for argument in args)


def kept_bytes(challenge: Challenge) -> int:
    """What the rounds of a challenge's workloads keep in their place: arena, question and snapshot of each."""
    manifest = challenge.manifest
    buffers = [
        (arg, workload.sizes)
        for workload in manifest.workloads
        if workload.on == "gpu"
        for arg in manifest.buffers
    ]
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
    return max((needed for _, needed in _beside(challenge, sizes, fillings)), default=0)


def _beside(
    challenge: Challenge, sizes: Mapping[str, int], fillings: Mapping[str, Filling]
) -> Iterator[tuple[str, int]]:
    manifest = challenge.manifest
    counts = {arg.name: math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers}
    for arg in manifest.buffers:
        if arg.kind is not Kind.OUTPUT:
            filling = fillings.get(arg.name) or default_recipe(manifest, arg, sizes)
            yield arg.name, drawing_bytes(filling, counts[arg.name], arg.dtype.itemsize, counts)
