"""Checks that a challenge's ``baseline`` computes the reference's result: otherwise a speedup over it means nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from grader.authoring.calibrate import compare
from grader.authoring.findings import check
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.judge.oracle import Question, ask
from grader.schemas.proof import Check, Status

_SEED = 20261122


def baseline_checks(challenge: Challenge, cases: Iterable[Case], device: str) -> list[Check]:
    """One check on ``device`` ("cpu" or "cuda") if ``reference.py`` defines baselines, else none. Skips cases with NaN
    or infinity in inputs or results: there baseline and reference may differ, which is why both exist. A baseline by
    name that cannot run on ``device`` is named in the summary."""
    reference, problems = challenge.reference, _undefined(challenge)
    functions = {**({"baseline": reference.baseline} if reference.baseline else {}), **reference.named}
    if not functions and not problems:
        return []
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
    return [check("baseline", problems, summary, bad=Status.ERROR)]


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
