"""The edges that a suite must cover, and whether cases hold what they claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.authoring.findings import check
from grader.challenge.cases import Case, Category
from grader.challenge.draw import draw_inputs
from grader.challenge.dtypes import DType
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Manifest
from grader.judge.oracle import scalar_values
from grader.schemas.proof import Check

if TYPE_CHECKING:
    import torch

_SEED = 11
SIZES = ("basic", "empty", "one_element", "odd", "prime", "block_edge", "aligned", "large")
FLOATS = ("zeros", "huge", "tiny", "denormal", "nan", "pos_inf", "neg_inf")
INTEGERS = ("range",)
_TILE = 16
# Sizes for which kernels have a fast path without masks.
_ALIGNMENT = 128
# Smaller scalars, such as an epsilon, hardly change a result.
_SHOWS = 0.01
# Cap on each size of a case too large to draw here.
_LOOKED_AT = 512


def wanted(manifest: Manifest) -> tuple[str, ...]:
    floats = [arg.dtype.as_float for arg in manifest.given if arg.dtype.floating]
    if not floats:
        return SIZES + INTEGERS
    impossible = set()
    if not any(facts.infinite for facts in floats):
        impossible |= {"pos_inf", "neg_inf"}
    if not any(facts.nan for facts in floats):
        impossible.add("nan")
    if not any(facts.signed for facts in floats):
        impossible |= {"zeros", "denormal"}
    return SIZES + tuple(name for name in FLOATS if name not in impossible)


def category_checks(challenge: Challenge) -> list[Check]:
    """``categories``: none is missing. ``claims``: each case holds what its category says. Raises
    ChallengeInvalid.
    """
    cases = [*challenge.cases, *challenge.hidden_cases]
    there, waived = {case.category.value for case in cases}, challenge.manifest.waives
    needed = wanted(challenge.manifest)
    missing = [
        f"no case is '{category}'" for category in needed if category not in there and category not in waived
    ]
    for name in challenge.manifest.optional:
        public = [case for case in challenge.cases if case.on is None]
        if not any(name in case.without for case in public):
            missing.append(f"no public case leaves out '{name}', which is optional: without=(\"{name}\",)")
        if all(name in case.without for case in public):
            missing.append(f"every public case leaves out '{name}'")
    missing += _fixed_scalars(challenge, cases)
    remarks = [f"'{name}' is waived: {reason}" for name, reason in waived.items() if name in needed]
    remarks += [f"'{name}' is waived, but there is such a case" for name in waived if name in there]
    claims = [claim for case in cases if (claim := _broken_claim(challenge, case))]
    return [
        check("categories", missing, f"{len(needed)} edge categories", remarks=remarks),
        check("claims", claims, f"{len(cases)} cases hold what they claim"),
    ]


def _fixed_scalars(challenge: Challenge, cases: Sequence[Case]) -> list[str]:
    """A kernel may hard-code a scalar with one value."""
    manifest = challenge.manifest
    given = [scalar_values(manifest, case) for case in cases if case.on is None]
    return [
        f"every case gives '{arg.name}' the value {arg.value:g}, so a kernel may ignore it: set another in a case by "
        f'scalars={{"{arg.name}": {other_value(arg):g}}}'
        for arg in manifest.scalars
        if arg.value is not None and {values[arg.name] for values in given} == {arg.value}
    ]


def other_value(arg: Argument) -> float:
    """Far enough from the usual value to show. A whole number grows, and so stays positive."""
    usual = float(arg.value or 0)
    if not arg.dtype.floating:
        return usual + 1 if usual < arg.dtype.as_integer.high else usual - 1
    return usual / 2 if abs(usual) >= _SHOWS else 0.25


def _broken_claim(challenge: Challenge, case: Case) -> str:
    if holds(challenge, case):
        return ""
    return f"{case.name}: is '{case.category}', but {_SAID[case.category]}"


def holds(challenge: Challenge, case: Case) -> bool:
    if case.category in _SIZE_CLAIMS:
        return _SIZE_CLAIMS[case.category](challenge.manifest, case)
    if case.category not in _VALUE_CLAIMS:
        return True
    claim = _VALUE_CLAIMS[case.category]
    manifest = challenge.manifest
    drawn = draw_inputs(manifest, small(manifest, case), _SEED)
    return any(
        claim(drawn[arg.name], arg.dtype)
        for arg in manifest.buffers
        if arg.name in drawn and arg.dtype.floating
    )


def small(manifest: Manifest, case: Case) -> Case:
    if case.on is None:
        return case
    sizes = {name: min(size, _LOOKED_AT) for name, size in case.sizes.items()}
    return replace(case, sizes=sizes)


def _counts(manifest: Manifest, case: Case) -> list[int]:
    return [math.prod(manifest.shape(arg, case.sizes)) for arg in manifest.operands]


def _is_prime(value: int) -> bool:
    return value > 1 and all(value % divisor for divisor in range(2, math.isqrt(value) + 1))


def _is_edge(value: int) -> bool:
    return value >= _TILE - 1 and min(value % _TILE, -value % _TILE) <= 1


def _is_aligned(manifest: Manifest, case: Case) -> bool:
    """At least one size is a multiple of ``_ALIGNMENT``, and each other too, or a timed workload's, such as a
    filter's length.
    """
    timed = {(name, size) for workload in manifest.workloads for name, size in workload.sizes.items()}
    whole = {name for name, size in case.sizes.items() if size > 0 and size % _ALIGNMENT == 0}
    return bool(whole) and all(name in whole or (name, size) in timed for name, size in case.sizes.items())


def _largest_of_all(manifest: Manifest, case: Case) -> bool:
    return sum(_counts(manifest, case)) >= 1000


_SIZE_CLAIMS: Mapping[Category, Callable[[Manifest, Case], bool]] = {
    Category.EMPTY: lambda manifest, case: 0 in [*_counts(manifest, case), *case.sizes.values()],
    Category.ONE_ELEMENT: lambda manifest, case: 1 in [*_counts(manifest, case), *case.sizes.values()],
    Category.ODD: lambda manifest, case: any(size % 2 for size in case.sizes.values()),
    Category.PRIME: lambda manifest, case: any(map(_is_prime, case.sizes.values())),
    Category.BLOCK_EDGE: lambda manifest, case: any(
        map(_is_edge, [*case.sizes.values(), *_counts(manifest, case)])
    ),
    Category.ALIGNED: _is_aligned,
    Category.LARGE: _largest_of_all,
}


def _has_denormal(values: torch.Tensor, dtype: DType) -> bool:
    limit = dtype.as_float.smallest_normal
    return bool(((values != 0) & (values.abs() < limit)).any())


_VALUE_CLAIMS: Mapping[Category, Callable[[torch.Tensor, DType], bool]] = {
    Category.NAN: lambda values, _: bool(values.isnan().any()),
    Category.POS_INF: lambda values, _: bool(values.isposinf().any()),
    Category.NEG_INF: lambda values, _: bool(values.isneginf().any()),
    Category.DENORMAL: _has_denormal,
}
_SAID = {
    Category.EMPTY: "no size and no buffer is 0",
    Category.ONE_ELEMENT: "no size is 1 and no buffer has one element",
    Category.ODD: "all sizes are even",
    Category.PRIME: "no size is prime",
    Category.BLOCK_EDGE: f"no size is a multiple of {_TILE} or one off it",
    Category.ALIGNED: f"not every size is a multiple of {_ALIGNMENT} or the size of a workload",
    Category.LARGE: "it has fewer than 1000 elements",
    Category.NAN: "no input holds NaN",
    Category.POS_INF: "no input holds +inf",
    Category.NEG_INF: "no input holds -inf",
    Category.DENORMAL: "no input holds a denormal number",
}
