"""Runs generic mistakes on probing inputs, to see whether they are wrong for this challenge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.authoring.candidates import Candidate
from grader.challenge.cases import NAN, Case, Category, Derived, Recipe, Sprinkle
from grader.challenge.draw import default_recipe, draw_inputs
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest
from grader.challenge.numbers import given_tensor
from grader.judge.oracle import laid_out, plain_values, workload_case

if TYPE_CHECKING:
    import torch

_SEED = 20
# Rows of any length hold some, and none is all NaN.
_NAN_SHARE = 0.2
_PROBED = (Category.BASIC, Category.LARGE)
# Copying positive elements never meets a NaN, counting never rounds.
_REASONS = {
    "nan_swallowed": "no NaN reaches this result, and none changes it",
    "low_precision": "this result does not depend on the low digits of its inputs",
}


def makes_a_difference(challenge: Challenge, candidate: Candidate) -> str:
    """Why a generic kernel is right here, or "". Raises ChallengeInvalid if inputs cannot be drawn."""
    mistake, _, result = candidate.name.partition(":")
    if mistake not in _REASONS:
        return ""
    names: dict[str, Any] = {}
    # Staff's reference and our own code.
    exec(compile(candidate.source, "generic.py", "exec"), names)  # noqa: S102
    answered = False
    for case in _probes(challenge, mistake):
        manifest = challenge.manifest
        drawn = draw_inputs(manifest, case, _SEED)
        tensors = {
            arg.name: given_tensor(drawn[arg.name], arg.dtype, manifest.shape(arg, case.sizes))
            for arg in manifest.given
            if arg.name in drawn
        }
        given = {**laid_out(manifest, tensors, case.sizes), **plain_values(manifest, case)}
        try:
            if _differs(challenge.manifest, names, given, result, case.sizes):
                return ""
        except Exception:  # noqa: S112 - a reference may refuse NaN
            continue
        answered = True
    return _REASONS[mistake] if answered else ""


def _probes(challenge: Challenge, mistake: str) -> Iterator[Case]:
    """For NaN mistakes, typical cases with NaN added."""
    yield from (
        workload_case(challenge, workload)
        for workload in challenge.manifest.workloads
        if workload.on == "cpu"
    )
    for case in challenge.cases:
        if case.on is not None:
            continue
        if mistake != "nan_swallowed":
            yield case
        elif case.category in _PROBED:
            yield _with_nan(challenge, case)


def _with_nan(challenge: Challenge, case: Case) -> Case:
    sprinkled = {}
    for arg in challenge.manifest.given:
        if arg.name in case.without or not arg.dtype.floating:
            continue
        base = case.inputs.get(arg.name) or default_recipe(challenge.manifest, arg, case.sizes)
        if isinstance(base, Recipe) and not isinstance(base, Derived):
            sprinkled[arg.name] = Sprinkle(NAN, _NAN_SHARE, base)
    return replace(case, inputs={**case.inputs, **sprinkled})


def _differs(
    manifest: Manifest,
    names: Mapping[str, Any],
    given: Mapping[str, Any],
    result: str,
    sizes: Mapping[str, int],
) -> bool:
    import torch

    outputs = {
        arg.name: torch.zeros(
            arg.dtype.given_shape(manifest.shape(arg, sizes)), dtype=getattr(torch, arg.dtype.given)
        )
        for arg in manifest.buffers
        if not arg.kind.given
    }
    copied = {
        name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in given.items()
    }
    values = {**copied, **outputs}
    right = names["answers"](**names["copied"](given))
    names["solve"](**values)
    dtype = next(arg.dtype for arg in manifest.results if arg.name == result)
    got = names["decoded"](values[result], dtype.value).reshape(-1)
    want = right[result] if right[result].dtype is torch.bool else right[result].to(got.dtype)
    count = min(want.numel(), names["counted_of"](result, right, given, want.numel()))
    return not _same(got[:count], want[:count])


def _same(got: torch.Tensor, want: torch.Tensor) -> bool:
    import torch

    return torch.equal(got, want) or (
        want.is_floating_point() and bool(((got == want) | (got.isnan() & want.isnan())).all())
    )
