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
    """One check on ``device`` ("cpu" or "cuda") if ``reference.py`` defines ``baseline``, else none. Skips cases with
    NaN or infinity in inputs or results: there the two may differ, which is why both exist."""
    baseline = challenge.reference.baseline
    if baseline is None:
        return []
    problems: list[str] = []
    asked = 0
    for case in cases:
        question = ask(challenge, case, _SEED, device)
        if _is_finite(question):
            asked += 1
            problems += _wrong(challenge, case, question, baseline)
    summary = f"it agrees with the reference on all {asked} finite cases"
    return [check("baseline", problems, summary, bad=Status.ERROR)]


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
