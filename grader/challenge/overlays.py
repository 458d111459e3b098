"""What some timed rounds draw in place of a challenge's own inputs, as the judge's own dice decide.

Ordinary random inputs hide work that was not done: the sum of a billion of them is known well enough without reading
1 % of them. So every submission is also asked

- *rare outliers*: its ordinary inputs with a few values so large that leaving one out exceeds the tolerance. They
  change too little to change a call's time, so these rounds count;
- *specials*: at the size of the workload, what the public cases hold at smaller ones: NaN, infinities, zeros, values
  out of range; ties and equal values, too, where results are exact. They may take another time than ordinary inputs
  do, so these rounds are checked and do not count.

Importing this module does not import torch.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.challenge.cases import Case, Category, Derived, Filling, Recipe, Sprinkle, drawing_bytes
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Manifest, Workload

if TYPE_CHECKING:
    import torch

# Outliers in one array: a part of 0.1 % that is not read holds one seven times in eight, and in one of three such
# arrays but for one time in 460. In a small array they are no more than this share of it.
_OUTLIERS, _MOST_SHARE = 2048, 1 / 64
# An outlier is this many times the tolerance of a sum over the array's longest dimension, or a little less.
_TOLERANCES, _SMALLEST = 4.0, 0.875
# Beyond anything that a normal distribution gives in an array, and harmless to what sums or exponentiates it: beside
# exp(16), what a thread adds up of a long row in float32 is no more than the rounding of its sum.
_LEAST = 8.0
# Of one outlier while it is drawn: its place, its share of the value, and the value.
_PLACE_BYTES = 24
# Categories whose values make no rounding harder at a larger size; and those that are safe where results are exact.
_SPECIAL = frozenset({Category.NAN, Category.POS_INF, Category.NEG_INF, Category.ZEROS, Category.RANGE})
_EXACT = _SPECIAL | {Category.ONES, Category.TIES, Category.TINY, Category.DENORMAL}
# One of each is asked in every grading: whoever drops them saves work.
_ALWAYS = (Category.NAN, Category.POS_INF, Category.NEG_INF)
# A case with so large a share of NaN or infinities means that.
_NEARLY_ALL = 0.1
# What is special is asked this often for a workload, unless more must be: each time takes as long as a round.
_MOST_SPECIALS = 6


@dataclass(frozen=True)
class Outliers:
    """``base`` with values from ``_SMALLEST * value`` to ``value`` at ``count`` random places. They differ, so that the
    largest of a row may be any of them."""

    value: float
    count: int
    base: Recipe

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        values = self.base.draw(shape, dtype, generator)
        flat = values.view(-1)
        if flat.numel():
            places = torch.randint(flat.numel(), (self.count,), generator=generator, device=generator.device)
            share = torch.rand(self.count, generator=generator, device=generator.device)
            flat[places] = (self.value * (_SMALLEST + (1 - _SMALLEST) * share)).to(dtype)
        return values

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return max(drawing_bytes(self.base, count, itemsize, {}), _PLACE_BYTES * self.count)

    def words(self) -> str:
        least = _SMALLEST * self.value
        return f"{self.base.words()}, with {least:g} to {self.value:g} at {self.count} places"


@dataclass(frozen=True, eq=False)
class Overlay:
    """``inputs`` in place of the challenge's own. ``counts``: whether a round with them has the time of others.
    ``category``: of the case that holds them. ``always``: every grading asks it."""

    name: str
    inputs: Mapping[str, Filling]
    counts: bool
    category: Category | None = None
    always: bool = False


def overlays(challenge: Challenge, workload: Workload) -> list[Overlay]:
    """All there are for ``workload``. Raises ChallengeInvalid."""
    return [*_outliers(challenge, workload), *_specials(challenge, workload)]


def drawn_specials(specials: Sequence[Overlay], dice: random.Random) -> list[Overlay]:
    """Those that a workload is asked: what a case wants to be timed, one of each category that no kernel may be spared,
    and as many more as there are others and room. These are drawn from all of them, and a coin adds one, so that who
    has seen what must come cannot know that it comes no more."""
    drawn = [it for it in specials if it.always]
    for category in _ALWAYS:
        found = [it for it in specials if it.category is category]
        if found and not any(it in drawn for it in found):
            drawn.append(dice.choice(found))
    if not specials:
        return []
    more = min(max(0, _MOST_SPECIALS - len(drawn)), len(specials) - len(drawn)) + dice.randrange(2)
    return drawn + dice.choices(specials, k=more)


def _outliers(challenge: Challenge, workload: Workload) -> list[Overlay]:
    """One for each input of floating-point numbers that is not made of others."""
    manifest, found = challenge.manifest, []
    for arg in manifest.buffers:
        filling = challenge.inputs.get(arg.name) or default_recipe(manifest, arg, workload.sizes)
        if arg.name not in challenge.readable or not arg.dtype.floating or isinstance(filling, Derived):
            continue
        elements = math.prod(manifest.shape(arg, workload.sizes))
        if count := min(_OUTLIERS, int(elements * _MOST_SHARE)):
            recipe = Outliers(_value(manifest, arg, workload.sizes), count, filling)
            found.append(Overlay(f"outliers in {arg.name}", {arg.name: recipe}, counts=True))
    return found


def _value(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> float:
    longest = max(manifest.shape(arg, sizes))
    value = max(_LEAST, _TOLERANCES * manifest.tolerance.rtol * longest)
    return min(value, arg.dtype.as_float.most_outlier)


def _specials(challenge: Challenge, workload: Workload) -> list[Overlay]:
    """By the public cases: what students may read. Where a case says ``timed``, that decides."""
    shapes = {it.name: challenge.manifest.shape(it, workload.sizes) for it in challenge.manifest.buffers}
    categories = _EXACT if challenge.manifest.exact else _SPECIAL
    return [
        Overlay(
            case.name,
            {name: _thinned(it, shapes[name]) for name, it in case.inputs.items()},
            counts=False,
            category=case.category,
            always=case.timed is True,
        )
        for case in challenge.cases
        if (case.category in categories if case.timed is None else case.timed)
        and case.on is None
        and _is_other(challenge, case)
    ]


def _thinned(filling: Filling, shape: tuple[int, ...]) -> Filling:
    """A share of the places of a short row is in every row of thousands. Were all of a result NaN for that, it would be
    right to spread one NaN over all of it: so at most half of the rows, whichever they are, have one."""
    if not isinstance(filling, Sprinkle) or math.isfinite(filling.value) or filling.share >= _NEARLY_ALL:
        return filling
    if len(shape) < 2 or 0 in shape:
        return filling
    return replace(filling, share=min(filling.share, 1 / (2 * max(shape))))


def _is_other(challenge: Challenge, case: Case) -> bool:
    """Whether its inputs are others than a workload's: its sizes and scalars are not taken over."""
    return dict(case.inputs) != challenge.inputs and not case.scalars
