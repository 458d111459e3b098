"""Sizes of a workload at which this machine can draw many rounds.

A size shrinks freely if each element of a result still depends on as many input elements. Shorter sums make
rounding weigh more relative to the tolerance, by ``factor``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.cases import Derived
from grader.challenge.draw import draw_inputs
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Manifest, Workload, check_sizes
from grader.judge.oracle import right_answers, workload_case
from grader.schemas.report import Sizes

if TYPE_CHECKING:
    import torch

# Of a round: some 10 ms of a core for the float64 reference.
ELEMENTS, EXACT_ELEMENTS, FLOPS = 1 << 18, 1 << 19, 1 << 26
# The least of a size that shrinks freely, and of one that sums depend on.
_SEVERAL, _LONG = 64, 256
# Sizes and elements for finding dependences.
_SMALL, _CHANGED = 24, 24
# "Twice the size, twice as many input elements".
_GROWS = 1.4
_SEED = 3


@dataclass(frozen=True)
class Reduced:
    """``factor``: how many times longer the workload's own sums are."""

    workload: Workload
    factor: float

    @property
    def text(self) -> str:
        return ", ".join(f"{name} = {size}" for name, size in self.workload.sizes.items())


def reduced(challenge: Challenge, workload: Workload) -> Reduced:
    """Raises ChallengeInvalid if the reference fails."""
    manifest, sizes = challenge.manifest, dict(workload.sizes)
    exact = manifest.exact
    most = EXACT_ELEMENTS if exact else ELEMENTS
    if _small_enough(manifest, sizes, most):
        return Reduced(workload, 1.0)
    if manifest.constraints:
        return _reduced_within(manifest, workload, most)
    free = list(sizes) if exact else [name for name in sizes if _free(challenge, workload, sizes, name)]
    for least in (_SEVERAL, 1):
        while not _small_enough(manifest, sizes, most) and (
            large := [name for name in free if sizes[name] >= 2 * least]
        ):
            _halve(sizes, [max(large, key=lambda name: sizes[name])])
    halvings = 0
    while not _small_enough(manifest, sizes, most) and (
        bound := [name for name in sizes if name not in free and sizes[name] >= _LONG]
    ):
        _halve(sizes, bound)
        halvings += 1
    shrunk = [name for name in sizes if sizes[name] < workload.sizes[name]]
    grows = halvings > 0 and _growth(challenge, workload, sizes, shrunk) > _GROWS
    return Reduced(workload.model_copy(update={"sizes": sizes}), float(1 << halvings) if grows else 1.0)


def _reduced_within(manifest: Manifest, workload: Workload, most: int) -> Reduced:
    """Halves all sizes together, or one."""
    sizes = dict(workload.sizes)
    while not _small_enough(manifest, sizes, most):
        tries = [[name] for name in sorted(sizes, key=lambda name: -sizes[name])] + [list(sizes)]
        for names in tries:
            tried = dict(sizes)
            _halve(tried, names)
            if tried != sizes and _fulfils(manifest, tried):
                sizes = tried
                break
        else:
            break
    factor = max(workload.sizes[name] / max(1, size) for name, size in sizes.items())
    return Reduced(workload.model_copy(update={"sizes": sizes}), factor)


def _fulfils(manifest: Manifest, sizes: Sizes) -> bool:
    try:
        check_sizes(manifest, sizes, "")
    except ValueError:
        return False
    return True


def _halve(sizes: dict[str, int], names: Sequence[str]) -> None:
    for name in names:
        sizes[name] = max(1, sizes[name] // 2 | sizes[name] & 1)


def _small_enough(manifest: Manifest, sizes: Mapping[str, int], most: int) -> bool:
    elements = max(math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers)
    return elements <= most and parse(manifest.cost.flops)(sizes) <= FLOPS


def _free(challenge: Challenge, workload: Workload, sizes: Mapping[str, int], name: str) -> bool:
    """Results have it, and no element's number of terms depends on it."""
    manifest = challenge.manifest
    dimension = any(name in parse(text).names for arg in manifest.results for text in arg.shape)
    return dimension and 1 / _GROWS < _growth(challenge, workload, sizes, [name]) < _GROWS


def _growth(
    challenge: Challenge, workload: Workload, sizes: Mapping[str, int], names: Sequence[str]
) -> float:
    """Of input elements per result element if ``names`` double: the one farthest from 1."""
    small = {name: min(size, _SMALL) for name, size in sizes.items()}
    double = {name: 2 * size if name in names else size for name, size in small.items()}
    one, two = _needs(challenge, workload, small), _needs(challenge, workload, double)
    ratios = [two[pair] / one[pair] for pair in one if one[pair] > 0 and two[pair] > 0]
    return max(ratios, key=lambda growth: abs(math.log(growth)), default=1.0)


def _needs(
    challenge: Challenge, workload: Workload, sizes: Mapping[str, int]
) -> dict[tuple[str, str], float]:
    """Input and result -> input elements per result element, on average."""
    manifest = challenge.manifest
    case = workload_case(challenge, workload.model_copy(update={"sizes": dict(sizes)}))
    inputs = draw_inputs(manifest, case, _SEED)
    right = right_answers(challenge, case, inputs)
    found: dict[tuple[str, str], float] = {}
    for arg in manifest.buffers:
        if arg.name not in inputs or isinstance(challenge.inputs.get(arg.name), Derived):
            continue
        values = inputs[arg.name]
        places = sorted({i * values.numel() // _CHANGED for i in range(_CHANGED)}) if values.numel() else []
        for place in places:
            answers = right_answers(challenge, case, {**inputs, arg.name: _changed(arg, values, place)})
            for name, want in right.items():
                differs = (answers[name] != want).sum().item() * values.numel()
                key = (arg.name, name)
                found[key] = found.get(key, 0.0) + differs / len(places) / max(1, want.numel())
    return found


def _changed(arg: Argument, values: torch.Tensor, place: int) -> torch.Tensor:
    changed = values.clone()
    flat = changed.view(-1)
    flat[place] = flat[place] * 1.5 + 0.5 if arg.dtype.floating else flat[(place + 1) % flat.numel()]
    return changed
