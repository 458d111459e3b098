"""Compares autograd's gradients of ``forward`` with small differences, in float64 (gradcheck): it may hide a
value from autograd, or have a Function with a wrong backward pass.
"""

from __future__ import annotations

import math
from typing import Any

from grader.authoring.findings import check
from grader.challenge.autograd import forward_arguments, forward_results
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.numbers import exact
from grader.judge.oracle import draw_for, scalar_values
from grader.schemas.proof import Check, Status

_SEED = 20261129
# Each costs two forward passes.
_MOST_ELEMENTS = 300
_MOST_CASES = 4


def gradient_checks(challenge: Challenge) -> list[Check]:
    """Empty without ``forward``. Inputs are drawn as for workloads: functions have kinks at special values."""
    forward = challenge.reference.forward
    if challenge.manifest.autograd is None or forward is None:
        return []
    sizes = _small_sizes(challenge)
    problems = [found for each in sizes if (found := _wrong(challenge, forward, each))]
    if not sizes:
        problems = [f"no public case has 1 to {_MOST_ELEMENTS} elements: gradients cannot be checked"]
    counted = f"{len(sizes)} size{'' if len(sizes) == 1 else 's'}"
    summary = f"autograd's gradients agree with small differences at {counted}"
    return [check("gradients", problems, summary, bad=Status.ERROR)]


def _small_sizes(challenge: Challenge) -> list[dict[str, int]]:
    manifest, found = challenge.manifest, dict[tuple[int, ...], dict[str, int]]()
    for case in challenge.cases:
        elements = sum(math.prod(manifest.shape(arg, case.sizes)) for arg in manifest.buffers)
        if 0 < elements <= _MOST_ELEMENTS:
            found.setdefault(tuple(case.sizes.values()), dict(case.sizes))
    return sorted(found.values(), key=lambda sizes: -math.prod(sizes.values()))[:_MOST_CASES]


def _wrong(challenge: Challenge, forward: Any, sizes: dict[str, int]) -> str:
    import torch
    from torch.autograd.gradcheck import GradcheckError, gradcheck

    table = challenge.manifest.autograd
    assert table is not None
    case = Case("gradients", challenge.cases[0].category, sizes, dict(challenge.inputs))
    drawn = draw_for(challenge, case, _SEED, "cpu")
    given: dict[str, Any] = {
        arg.name: exact(drawn[arg.name], arg.dtype) for arg in challenge.manifest.given if arg.name in drawn
    }
    given |= {**scalar_values(challenge.manifest, case), **sizes}
    given = {name: given[name] for name in forward_arguments(challenge.manifest)}
    names, results = list(table.gradients.values()), forward_results(challenge.manifest)

    def function(*leaves: torch.Tensor) -> tuple[torch.Tensor, ...]:
        made = forward(**{**given, **dict(zip(names, leaves, strict=True))})
        by_name = dict(zip(results, made if isinstance(made, tuple) else (made,), strict=True))
        return tuple(by_name[name] for name in table.upstream.values())

    try:
        gradcheck(function, [given[name].requires_grad_() for name in names])
    except GradcheckError as error:
        where = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        return f"{where}: {' '.join(str(error).split())[:300]}"
    return ""
