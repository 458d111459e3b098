"""Inputs that are too large to be drawn as a whole: a pattern that repeats, and single values on top of it.

The emulated GPU fills a page of such an array when a kernel first touches it. What a recipe gives for as many elements
as the pattern has is repeated; its length is a prime number by the seed, so that no step of a wrong index is one of its
multiples. Importing this module does not import torch.
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

# Arrays of so many bytes or more are patterns.
LARGE_BYTES = 1 << 28
# Elements of the largest array that the reference is asked for, whose inputs are put together.
MOST_ASKED = 1 << 20
# Elements of a pattern: from so many to twice as many.
_FEWEST = 1 << 17
# Recipes that give every element alike, wherever it is.
_ALIKE = (Normal, Uniform, Integers, Constant, Choice)


@dataclass(frozen=True)
class Overlay:
    """``value`` at elements first, first + step, ..., flat."""

    first: int
    step: int
    value: float


@dataclass(frozen=True)
class Pattern:
    """An array of ``count`` elements: ``values`` again and again, flat, with ``overlays`` on top, the last one wins."""

    values: torch.Tensor
    overlays: tuple[Overlay, ...]
    count: int

    def at(self, places: torch.Tensor) -> torch.Tensor:
        """The elements at these flat places (int64)."""
        found = self.values[places % self.values.numel()]
        for it in self.overlays:
            alone = it.first + it.step >= self.count
            on_it = (
                places == it.first if alone else (places >= it.first) & ((places - it.first) % it.step == 0)
            )
            found[on_it] = it.value
        return found


def is_large(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> bool:
    """Whether ``arg`` is too large to be filled."""
    return math.prod(manifest.shape(arg, sizes)) * arg.dtype.itemsize >= LARGE_BYTES


def elements_along(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Of the largest array, how many elements belong to one place along the size that pieces are cut along."""
    assert manifest.pieces is not None
    largest = max(math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers)
    return max(1, largest // max(1, sizes[manifest.pieces.along]))


def can_be_sampled(manifest: Manifest, case: Case) -> bool:
    """Whether an emulated GPU can run a case for a GPU alone, on sampled blocks: its answer is computed in pieces,
    which its large inputs are cut into along their first dimension, and these hold patterns. A hidden one is not: the
    submission could choose whether it is covered, and so tell of its data."""
    if (
        case.hidden
        or manifest.pieces is None
        or not any(is_large(manifest, it, case.sizes) for it in manifest.buffers)
    ):
        return False
    along = manifest.pieces.along
    if elements_along(manifest, case.sizes) > MOST_ASKED:
        return False
    for arg in manifest.buffers:
        if arg.kind is Kind.OUTPUT:
            continue
        filling = case.inputs.get(arg.name)
        if not is_large(manifest, arg, case.sizes):
            if isinstance(filling, Derived):
                return False
        elif along not in parse(arg.shape[0]).names or not _repeats(filling):
            return False
    return True


def runs_on(manifest: Manifest, case: Case, kind: DeviceKind) -> bool:
    """Whether boards of that kind run the case, as a whole or sampled blocks of it."""
    return case.runs_on(kind.workloads) or (kind.samples_large and can_be_sampled(manifest, case))


def cases_on(challenge: Challenge, kind: DeviceKind, *, hidden: bool = True) -> list[Case]:
    """Every case that boards of that kind run; without the hidden ones unless wanted."""
    cases = [*challenge.cases, *(challenge.hidden_cases if hidden else ())]
    return [it for it in cases if runs_on(challenge.manifest, it, kind)]


def has_checked_results(manifest: Manifest) -> bool:
    """Whether each part of a result is of one piece, so that what single blocks write can be checked."""
    pieces = manifest.pieces
    return (
        pieces is not None
        and not pieces.running
        and not any(it.first for it in manifest.compare.values())
        and all(any(pieces.along in parse(text).names for text in arg.shape) for arg in manifest.results)
    )


def draw_pattern(manifest: Manifest, case: Case, arg: Argument, seed: int) -> Pattern:
    """The pattern of a large input. The same seed gives the same one. Raises ChallengeInvalid."""
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
    """The first prime number from ``least`` on."""
    while least % 2 == 0 or any(least % it == 0 for it in range(3, int(least**0.5) + 1, 2)):
        least += 1
    return least
