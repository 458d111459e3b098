"""Checks of a challenge's ``check.py`` that need no submission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from grader.authoring.candidates import variant_files
from grader.authoring.findings import check
from grader.challenge.checker import CHECKER
from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid
from grader.judge.oracle import Question, ask
from grader.schemas.proof import Check, Status

if TYPE_CHECKING:
    import torch

_SEED = 11


def accepted(question: Question, results: Mapping[str, torch.Tensor]) -> bool:
    """Whether ``check.py`` accepts results that differ from the reference's. Raises ChallengeInvalid if it
    fails.
    """
    if question.check is None:
        return False
    shaped = {name: results[name].reshape(right.shape) for name, right in question.outputs.items()}
    return question.check(shaped) is None


def checker_checks(challenge: Challenge) -> list[Check]:
    """``checker``: it accepts the reference's answers; ``variants``: other right answers prove it.
    Submissions prove it on cases for a GPU.
    """
    if challenge.checker is None:
        return []
    problems = []
    cases = [case for case in [*challenge.cases, *challenge.hidden_cases] if case.on is None]
    for case in cases:
        question = ask(challenge, case, _SEED)
        assert question.check is not None
        try:
            refused = question.check(question.outputs)
        except ChallengeInvalid as error:
            problems.append(f"case '{case.name}': {error.message}")
            break
        if refused is not None:
            problems.append(f"it refuses the reference's own answer in case '{case.name}': {refused.why}")
    found = check(
        "checker", problems, f"it accepts the reference's answer in all {len(cases)} cases", bad=Status.ERROR
    )
    number = len(variant_files(challenge))
    missing = (
        []
        if number
        else [f"no submission shows that {CHECKER} accepts another right answer: put one in staff/variants"]
    )
    return [found, check("variant_files", missing, f"{number} with other right answers")]
