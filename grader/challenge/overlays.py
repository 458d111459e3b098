"""Special inputs of some timed rounds, chosen by the judge's dice. Does not import torch.

Ordinary random inputs hide skipped work: the sum of a billion of them is predictable without the last 1 %. So
there are

- *rare outliers*: a few values so large that skipping one exceeds the tolerance. They do not change a call's time, so
  these rounds count;
- *specials*: NaN, infinities, zeros and values out of range as in public cases; also ties and equal values if results
  are exact. They may change a call's time, so these rounds do not count.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.challenge.cases import Case, Category, Derived, Filling, Recipe, Sprinkle, drawing_bytes
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Manifest, Workload

if TYPE_CHECKING:
    import torch

# Per array: 0.1 % left unread holds one 7 times in 8, and all but 1 in 460 times in one of three such arrays.
_OUTLIERS, _MOST_SHARE = 2048, 1 / 64
# An outlier is at most this many times the tolerance of a sum over the longest dimension.
_TOLERANCES, _SMALLEST = 4.0, 0.875
# Outside any normal distribution's values, and harmless in exponentials: next to exp(16), a thread's float32
# sum of a long row is within the rounding.
_LEAST = 8.0
# Per outlier while drawing: place, share of the value, and value.
_PLACE_BYTES = 24
# These make rounding no harder at larger sizes; the second, if results are exact.
_SPECIAL = frozenset({Category.NAN, Category.POS_INF, Category.NEG_INF, Category.ZEROS, Category.RANGE})
_EXACT = _SPECIAL | {Category.ONES, Category.TIES, Category.TINY, Category.DENORMAL}
# In every grading: skipping their handling saves time.
_ALWAYS = (Category.NAN, Category.POS_INF, Category.NEG_INF)
# A case with at least this share of NaN or infinities keeps it.
_NEARLY_ALL = 0.1
# Per workload, unless more are required: each takes as long as any round.
_MOST_SPECIALS = 6


@dataclass(frozen=True)
class Outliers:
    """``base`` with values from ``_SMALLEST * value`` to ``value`` at ``count`` random places."""

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
    name: str
    inputs: Mapping[str, Filling]
    # A round with them takes the usual time.
    counts: bool
    category: Category | None = None
    always: bool = False


def overlays(challenge: Challenge, workload: Workload) -> list[Overlay]:
    """Raises ChallengeInvalid."""
    return [*_outliers(challenge, workload), *_specials(challenge, workload)]


def drawn_specials(specials: Sequence[Overlay], dice: random.Random) -> list[Overlay]:
    """Those of cases with ``timed``, one of each category in ``_ALWAYS``, and as many more as fit. A coin
    adds one, so a submission never knows that none follows.
    """
    drawn = [overlay for overlay in specials if overlay.always]
    for category in _ALWAYS:
        found = [overlay for overlay in specials if overlay.category is category]
        if found and not any(overlay in drawn for overlay in found):
            drawn.append(dice.choice(found))
    if not specials:
        return []
    more = min(max(0, _MOST_SPECIALS - len(drawn)), len(specials) - len(drawn)) + dice.randrange(2)
    return drawn + dice.choices(specials, k=more)


def _outliers(challenge: Challenge, workload: Workload) -> list[Overlay]:
    """One per floating-point input that is not derived."""
    manifest, found = challenge.manifest, []
    for arg in manifest.buffers:
        filling = challenge.inputs.get(arg.name) or default_recipe(manifest, arg, workload.sizes)
        if (
            arg.name not in challenge.readable
            or arg.name in workload.without
            or not arg.dtype.floating
            or isinstance(filling, Derived)
        ):
            continue
        elements = math.prod(manifest.shape(arg, workload.sizes))
        if count := min(_OUTLIERS, int(elements * _MOST_SHARE)):
            recipe = Outliers(_value(manifest, arg, workload.sizes), count, filling)
            found.append(Overlay(f"outliers in {arg.name}", {arg.name: recipe}, counts=True))
    return found


def _value(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> float:
    longest = max(manifest.shape(arg, sizes))
    value = max(_LEAST, _TOLERANCES * manifest.tolerance.loosest(manifest.results) * longest)
    return min(value, arg.dtype.as_float.most_outlier)


def _specials(challenge: Challenge, workload: Workload) -> list[Overlay]:
    """From public cases only."""
    shapes = {arg.name: challenge.manifest.shape(arg, workload.sizes) for arg in challenge.manifest.buffers}
    strict = {arg.name for arg in challenge.manifest.given if arg.values.strict}
    categories = _EXACT if challenge.manifest.exact else _SPECIAL
    return [
        Overlay(
            case.name,
            {
                name: _thinned(filling, shapes[name])
                for name, filling in case.inputs.items()
                if name not in strict
            },
            counts=False,
            category=case.category,
            always=case.timed is True,
        )
        for case in challenge.cases
        if (case.category in categories if case.timed is None else case.timed)
        and case.on is None
        and _is_other(challenge, case, strict)
    ]


def _thinned(filling: Filling, shape: tuple[int, ...]) -> Filling:
    """The share of a short row's places would reach every one of thousands of long rows; then spreading one
    NaN over everything would be right. So at most half of the rows get one.
    """
    if not isinstance(filling, Sprinkle) or math.isfinite(filling.value) or filling.share >= _NEARLY_ALL:
        return filling
    if len(shape) < 2 or 0 in shape:
        return filling
    return replace(filling, share=min(filling.share, 1 / (2 * max(shape))))


def _is_other(challenge: Challenge, case: Case, strict: Collection[str]) -> bool:
    """Sizes, scalars and inputs with strict bounds stay the workload's."""
    ours, theirs = (
        {name: filling for name, filling in inputs.items() if name not in strict}
        for inputs in (case.inputs, challenge.inputs)
    )
    return ours != theirs and not case.scalars
