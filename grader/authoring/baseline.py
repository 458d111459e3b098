"""Checks a challenge's baselines: right results, and work that can be timed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grader.authoring.calibrate import compare
from grader.authoring.findings import check
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.judge.oracle import Question, arguments, ask, draw_for
from grader.schemas.proof import Check, Status

_SEED = 20261122


def baseline_checks(challenge: Challenge, cases: Iterable[Case], device: str) -> list[Check]:
    """Skips cases with NaN or infinity, which a baseline may treat differently."""
    reference, problems = challenge.reference, _undefined(challenge)
    functions = {**({"baseline": reference.baseline} if reference.baseline else {}), **reference.named}
    cases = list(cases)
    idle = _without_work(challenge, cases, device)
    if not functions and not problems:
        return [check("baseline", idle, "")] if idle else []
    asked, absent = 0, dict[str, str]()
    for case in cases:
        question = ask(challenge, case, _SEED, device)
        if not _is_finite(question):
            continue
        asked += 1
        for name, function in functions.items():
            if name in absent:
                continue
            try:
                problems += _wrong(challenge, case, question, function)
            except (ImportError, RuntimeError, AttributeError) as error:
                if name == "baseline":
                    raise
                absent[name] = str(error).partition("\n")[0][:200]
    summary = f"it agrees with the reference on all {asked} finite cases"
    if absent:
        summary += "; not run here: " + ", ".join(f"{name} ({why})" for name, why in absent.items())
    if problems or not idle:
        return [check("baseline", problems, summary, bad=Status.ERROR)]
    return [check("baseline", idle, summary)]


def _without_work(challenge: Challenge, cases: Sequence[Case], device: str) -> list[str]:
    """A result that is a view of an input is no work."""
    manifest, reference = challenge.manifest, challenge.reference
    name, function = (
        ("baseline", reference.baseline) if reference.baseline else ("reference", reference.compute)
    )
    case = max(cases, key=lambda case: math.prod(case.sizes.values()), default=None)
    if case is None or manifest.gpus > 1:
        return []
    inputs = draw_for(challenge, case, _SEED, device)
    given = arguments(manifest, case, {key: values.clone() for key, values in inputs.items()})
    memory = {
        value.untyped_storage().data_ptr(): key
        for key, value in given.items()
        if hasattr(value, "untyped_storage") and value.numel()
    }
    try:
        answer = function(**given)
    except RuntimeError as error:
        why = str(error).partition("\n")[0][:200]
        return [
            f"{name} fails in PyTorch's own types ({why}): there is no speedup over it. Define baseline(...)."
        ]
    answers = answer if isinstance(answer, tuple) else (answer,)
    return [
        f"{name} returns '{arg.name}' as a view of '{memory[place]}', which takes PyTorch no time: there is no speedup "
        f"over it. Return a copy (.contiguous() or .clone())."
        for arg, value in zip(manifest.results, answers, strict=True)
        if (place := value.untyped_storage().data_ptr()) in memory
    ]


def _undefined(challenge: Challenge) -> list[str]:
    return [
        f"[[baselines]] '{each.name}': reference.py defines no function '{each.function}'"
        for each in challenge.manifest.baselines
        if each.function and each.function not in challenge.reference.named
    ]


def _is_finite(question: Question) -> bool:
    values = [*question.inputs.values(), *question.outputs.values()]
    return all(bool(value.isfinite().all()) for value in values if value.is_floating_point())


def _wrong(challenge: Challenge, case: Case, question: Question, baseline: Callable[..., Any]) -> list[str]:
    measured, disagreements = compare(challenge, case, question, baseline)
    far = [
        f"{error.case}: {error.result}: it uses {error.used:.2f} of the allowed error"
        for error in measured
        if error.used > 1
    ]
    return disagreements + far
