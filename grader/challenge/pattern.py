"""Inputs too large to draw: a repeating pattern with single values on top. Does not import torch.

The emulated GPU fills a page on first touch. The pattern's length is a prime chosen by the seed, so no stride
of a wrong index is a multiple of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.cases import (
    At,
    Case,
    Choice,
    Constant,
    Derived,
    Filling,
    Integers,
    Normal,
    Recipe,
    Sprinkle,
    Uniform,
)
from grader.challenge.draw import draw_recipe, filling_of
from grader.challenge.expression import parse
from grader.challenge.model import Argument, Kind, Manifest
from grader.device_kinds import DeviceKind

if TYPE_CHECKING:
    import torch

    from grader.challenge.loader import Challenge

LARGE_BYTES = 1 << 28
# In elements: larger arrays are not assembled for the reference.
MOST_ASKED = 1 << 20
# A pattern has between this many elements and twice as many.
_FEWEST = 1 << 17
# Every element has the same distribution.
_ALIKE = (Normal, Uniform, Integers, Constant, Choice)


@dataclass(frozen=True)
class Overlay:
    """``value`` at the flat places first, first + step, ..."""

    first: int
    step: int
    value: float


@dataclass(frozen=True)
class Pattern:
    """``count`` elements: ``values`` repeated, flat, then ``overlays`` in order."""

    values: torch.Tensor
    overlays: tuple[Overlay, ...]
    count: int

    def at(self, places: torch.Tensor) -> torch.Tensor:
        found = self.values[places % self.values.numel()]
        for overlay in self.overlays:
            alone = overlay.first + overlay.step >= self.count
            on_it = (
                places == overlay.first
                if alone
                else (places >= overlay.first) & ((places - overlay.first) % overlay.step == 0)
            )
            found[on_it] = overlay.value
        return found


def is_large(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> bool:
    return arg.dtype.bytes_of(math.prod(manifest.shape(arg, sizes))) >= LARGE_BYTES


def elements_along(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Of the largest array, per place along the cut size."""
    assert manifest.pieces is not None
    largest = max(math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers)
    return max(1, largest // max(1, sizes[manifest.pieces.along]))


def can_be_sampled(manifest: Manifest, case: Case) -> bool:
    """True if the emulated GPU can run a GPU-only case on sampled blocks: its answer comes in pieces, and its
    large inputs are patterns. Hidden cases never: a submission could reveal their data by choosing whether it
    is covered.
    """
    if (
        case.hidden
        or manifest.pieces is None
        or any(arg.dtype.encoded or arg.dtype.complex for arg in manifest.buffers)
        or not any(is_large(manifest, arg, case.sizes) for arg in manifest.buffers)
    ):
        return False
    along = manifest.pieces.along
    if elements_along(manifest, case.sizes) > MOST_ASKED:
        return False
    for arg in manifest.buffers:
        if not arg.kind.given:
            if arg.kind is Kind.WORKSPACE and is_large(manifest, arg, case.sizes):
                return False
            continue
        filling = case.inputs.get(arg.name)
        if not is_large(manifest, arg, case.sizes):
            if isinstance(filling, Derived):
                return False
        elif along not in parse(arg.shape[0]).names or not _repeats(filling):
            return False
    return True


def runs_on(manifest: Manifest, case: Case, kind: DeviceKind) -> bool:
    """Whole or on sampled blocks."""
    return case.runs_on(kind.cases) or (kind.samples_large and can_be_sampled(manifest, case))


def cases_on(challenge: Challenge, kind: DeviceKind, *, hidden: bool = True) -> list[Case]:
    cases = [*challenge.cases, *(challenge.hidden_cases if hidden else ())]
    return [case for case in cases if runs_on(challenge.manifest, case, kind)]


def draw_pattern(manifest: Manifest, case: Case, arg: Argument, seed: int) -> Pattern:
    """Determined by the seed. Raises ChallengeInvalid."""
    shape = manifest.shape(arg, case.sizes)
    filling = filling_of(manifest, case, arg)
    assert isinstance(filling, Recipe)
    overlays: list[Overlay] = []
    while isinstance(filling, At):
        last = shape[-1]
        places = [place % last for place in filling.places if -last <= place < last]
        overlays = [*(Overlay(place, last, filling.value) for place in places), *overlays]
        filling = filling.base
    length = _prime(random.Random(f"{seed}:{arg.name}").randrange(_FEWEST, 2 * _FEWEST))  # noqa: S311
    values = draw_recipe(manifest, case, arg, filling, (length,), seed)
    return Pattern(values, tuple(overlays), math.prod(shape))


def _repeats(filling: Filling | None) -> bool:
    if isinstance(filling, At | Sprinkle):
        return _repeats(filling.base)
    return filling is None or isinstance(filling, _ALIKE)


def _prime(least: int) -> int:
    while least % 2 == 0 or any(least % divisor == 0 for divisor in range(3, int(least**0.5) + 1, 2)):
        least += 1
    return least
