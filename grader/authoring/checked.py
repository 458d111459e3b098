"""Checks of a challenge's ``check.py`` that need no submission. Wrong kernels and variants test it, too."""

from __future__ import annotations

from grader.authoring.candidates import variant_files
from grader.authoring.findings import check
from grader.challenge.checker import CHECKER
from grader.challenge.loader import Challenge
from grader.judge.oracle import ask
from grader.schemas.proof import Check, Status

_SEED = 11


def checker_checks(challenge: Challenge) -> list[Check]:
    """``checker``: it accepts the reference's own answers; ``variants``: there are other right answers to prove it.
    Empty without a checker. Raises ChallengeInvalid if it fails."""
    if challenge.checker is None:
        return []
    problems = []
    cases = [*challenge.cases, *challenge.hidden_cases]
    for case in cases:
        question = ask(challenge, case, _SEED)
        assert question.check is not None
        if (refused := question.check(question.outputs)) is not None:
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
