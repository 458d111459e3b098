"""The peak GPU memory of judging, computed ahead. Imports no torch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from grader import limits
from grader.challenge.cases import Case, Filling, drawing_bytes
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Manifest, Workload
from grader.challenge.numbers import rounding_bytes
from grader.challenge.overlays import overlays
from grader.judge.pieces import names_in_parts

# For a piece in float64 (see ``grader.judge.pieces``), and the guards' granules.
_PIECES_BYTES = 4 * limits.GIB
# A place, a mask, and the padding's bits.
_PLACE_BYTES = 24


def workload_bytes(challenge: Challenge, workload: Workload) -> int:
    """Bytes for the largest inputs that a round may draw. Raises ChallengeInvalid."""
    fillings = [
        challenge.inputs,
        *(challenge.inputs | dict(overlay.inputs) for overlay in overlays(challenge, workload)),
    ]
    manifest, sizes = challenge.manifest, workload.sizes
    drawing = max(_drawing(challenge, sizes, filling) for filling in fillings)
    return _copies(manifest, sizes) + max(_oracle(manifest, sizes), drawing)


def held_bytes(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Bytes from the signature alone, without drawing."""
    return _copies(manifest, sizes) + _oracle(manifest, sizes)


def case_bytes(challenge: Challenge, case: Case) -> int:
    """Bytes for one call. Raises ChallengeInvalid."""
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
    drawing_bytes_of = dict(drawing_by_buffer(challenge, sizes, case.inputs))
    drawing = max((drawing_bytes_of[argument.name] for argument in whole), default=0)
    return own_bytes(manifest, sizes) + _bytes(whole, manifest, sizes) + max(_PIECES_BYTES, drawing)


def own_bytes(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    return _bytes(manifest.buffers, manifest, sizes)


def _bytes(args: Iterable[Argument], manifest: Manifest, sizes: Mapping[str, int]) -> int:
    return sum(argument.dtype.bytes_of(extent_of(manifest, argument, sizes)) for argument in args)


def extent_of(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> int:
    """Elements with padding."""
    shape, strides = manifest.shape(arg, sizes), manifest.strides(arg, sizes)
    if strides is None or 0 in shape:
        return math.prod(shape)
    return max(size * stride for size, stride in zip(shape, strides, strict=True))


def kept_bytes(challenge: Challenge) -> int:
    manifest = challenge.manifest
    buffers = [
        (arg, workload.sizes)
        for workload in manifest.workloads
        if workload.on == "gpu"
        for arg in manifest.buffers
    ]
    return sum(_kept_times(arg) * _held(arg, manifest, sizes) for arg, sizes in buffers)


def _kept_times(arg: Argument) -> int:
    return 1 if arg.kind is Kind.WORKSPACE else 3


def _copies(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Buffers in the arena, drawn and staged, and snapshots of results; workspaces only in the arena. Padded results
    need more."""
    times = {Kind.WORKSPACE: 1, Kind.INPUT: 3}
    copies = sum(times.get(arg.kind, 4) * _held(arg, manifest, sizes) for arg in manifest.buffers)
    padded = [arg for arg in manifest.buffers if arg.layout is not None]
    places = sum(_PLACE_BYTES * extent_of(manifest, arg, sizes) for arg in padded)
    return copies + places


def _held(arg: Argument, manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Bytes of values with padding, or of words if those are more."""
    count = extent_of(manifest, arg, sizes)
    return max(arg.dtype.bytes_of(count), arg.dtype.held_bytes(count))


def _oracle(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    return sum(
        (24 if arg.dtype.floating else 16) * math.prod(manifest.shape(arg, sizes))
        for arg in manifest.operands
    )


def _drawing(challenge: Challenge, sizes: Mapping[str, int], fillings: Mapping[str, Filling]) -> int:
    return max((needed for _, needed in drawing_by_buffer(challenge, sizes, fillings)), default=0)


def drawing_by_buffer(
    challenge: Challenge, sizes: Mapping[str, int], fillings: Mapping[str, Filling]
) -> Iterator[tuple[str, int]]:
    """Peak bytes that drawing each input needs, beyond its values. Raises ChallengeInvalid."""
    manifest = challenge.manifest
    counts = {arg.name: math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers}
    for arg in manifest.given:
        if arg.name in counts:
            filling = fillings.get(arg.name) or default_recipe(manifest, arg, sizes)
            drawn = drawing_bytes(filling, counts[arg.name], arg.dtype.held_bytes(1), counts)
            yield arg.name, max(drawn, rounding_bytes(arg.dtype, counts[arg.name]))
