"""Finds conditions on sizes that a problem's reference needs, such as ``t % 64 == 0``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from grader.authoring.scaffold import suite
from grader.errors import BadRequest

if TYPE_CHECKING:
    from grader.authoring.scaffold.answers import Answers
    from grader.challenge.model import Manifest

# Without these, nothing is known of a reference.
_ASKED = ("basic", "odd", "prime", "large")
_LARGEST_STEP = 1 << 10


def needed_constraints(
    samples: Sequence[Mapping[str, int]], manifest_with: Callable[[list[str]], Manifest], answers: Answers
) -> list[str]:
    """As few as possible; none if all together do not help. ``samples``: sizes of the problem's tests;
    ``manifest_with`` raises BadRequest if no workload fulfils its constraints.
    """

    def enough(constraints: Sequence[str]) -> bool:
        try:
            manifest = manifest_with(list(constraints))
        except BadRequest:
            return False
        cases = [case for case in suite.public_cases(manifest) if case.name in _ASKED]
        answers.ask_about(manifest, answers.source)
        return len(answers.of(cases)) == len(cases) > 0

    if enough([]):
        return []
    kept: list[str] = []
    for more in (_multiples(samples), _ratios(samples), _orders(samples)):
        kept += more
        if more and enough(kept):
            break
    else:
        return []
    for constraint in list(kept):
        without = [one for one in kept if one != constraint]
        if enough(without):
            kept = without
    return kept


# Conditions that all of its tests fulfil.


def _multiples(samples: Sequence[Mapping[str, int]]) -> list[str]:
    steps = {name: math.gcd(_LARGEST_STEP, *(sample[name] for sample in samples)) for name in samples[0]}
    return [f"{name} % {step} == 0" for name, step in steps.items() if step > 1]


def _ratios(samples: Sequence[Mapping[str, int]]) -> list[str]:
    return [
        f"{one} % {other} == 0"
        for one, other in itertools.permutations(samples[0], 2)
        if all(sample[other] > 1 and sample[one] % sample[other] == 0 for sample in samples)
    ]


def _orders(samples: Sequence[Mapping[str, int]]) -> list[str]:
    return [
        f"{one} <= {other}"
        for one, other in itertools.permutations(samples[0], 2)
        if all(sample[one] <= sample[other] for sample in samples)
    ]
