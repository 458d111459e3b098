"""Turns the results of submissions into findings about the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from grader.authoring.findings import check
from grader.schemas.proof import (
    ApproximationOutcome,
    ApproximationResult,
    CandidateOutcome,
    CandidateResult,
    CandidateRole,
    Check,
    Status,
)

# One submission, all cases.
_SLOW_SECONDS = 60.0
_PASSING = (CandidateOutcome.ACCEPTED, CandidateOutcome.COMPILED, CandidateOutcome.NOT_RUN)


def suite_checks(
    tried: Sequence[CandidateResult],
    matrix: bool,
    cases: Sequence[str] = (),
    waives: Mapping[str, str] = MappingProxyType({}),
) -> list[Check]:
    """``solutions``, ``native``, ``mutants``, ``generic``; with ``matrix`` also ``kills``. ``waives``:
    reasons by name.
    """
    checks = [
        _right(tried, CandidateRole.SOLUTION, "solutions"),
        _right(tried, CandidateRole.NATIVE, "native"),
        _right(tried, CandidateRole.VARIANT, "variants"),
        _killed(tried, CandidateRole.MUTANT, "mutants"),
        _killed(tried, CandidateRole.GENERIC, "generic", waives),
        _kills(tried, cases) if matrix else None,
    ]
    return [check for check in checks if check is not None]


def approximation_checks(
    results: Sequence[ApproximationResult], misfits: Sequence[str], unfair: Sequence[str] = ()
) -> list[Check]:
    """``approximations``: none passes unless allowed. ``special_inputs``: all fit the workloads.
    ``fair_rounds``: native PyTorch passes.
    """
    of = {
        outcome: [result for result in results if result.outcome is outcome]
        for outcome in ApproximationOutcome
    }
    problems = [_passing(name, found) for name, found in _by_name(of[ApproximationOutcome.PASSES]).items()]
    counted = Counter(result.workload for result in of[ApproximationOutcome.CAUGHT])
    good = "caught: " + ", ".join(f"{number} at {name}" for name, number in counted.items())
    remarks = [
        f"{name}: {sizes}"
        for name, sizes in {result.workload: _tried_at(result) for result in results}.items()
    ]
    for reason in dict.fromkeys(result.reason for result in of[ApproximationOutcome.ALLOWED]):
        names = dict.fromkeys(
            result.name for result in of[ApproximationOutcome.ALLOWED] if result.reason == reason
        )
        remarks.append(f"allowed: {', '.join(names)}: {reason}")
    if unable := dict.fromkeys(result.name for result in of[ApproximationOutcome.NOT_APPLICABLE]):
        remarks.append(f"not mistakes here, because every compared answer is right: {', '.join(unable)}")
    return [
        check("approximations", problems, good, remarks=remarks),
        check("special_inputs", list(misfits), "the special inputs of every timed case fit the workloads"),
        check("fair_rounds", list(unfair), "native PyTorch passes rounds of every kind", bad=Status.ERROR),
    ]


def _by_name(results: Sequence[ApproximationResult]) -> dict[str, list[ApproximationResult]]:
    found: dict[str, list[ApproximationResult]] = {}
    for result in results:
        found.setdefault(result.name, []).append(result)
    return found


def _passing(name: str, found: Sequence[ApproximationResult]) -> str:
    where = ", ".join(f"{result.probability:.2g} at {result.workload}" for result in found)
    return f"{name} ({found[0].words}) passes gradings with a probability of {where}"


def _tried_at(result: ApproximationResult) -> str:
    sizes = ", ".join(f"{name} = {size}" for name, size in result.tried_at.items())
    shorter = f", sums {result.factor:g} times shorter" if result.factor != 1 else ""
    return f"tried at {sizes}{shorter}"


def _of(tried: Sequence[CandidateResult], role: CandidateRole) -> list[CandidateResult]:
    return [result for result in tried if result.role is role]


def _right(tried: Sequence[CandidateResult], role: CandidateRole, name: str) -> Check | None:
    found = _of(tried, role)
    if not found:
        return None
    problems = [
        f"{result.name}: {result.ending.value}: {result.detail}"
        for result in found
        if result.ending not in _PASSING
    ]
    good = "; ".join(f"{result.name}: {result.ending.value.replace('_', ' ')}" for result in found)
    shown = (CandidateOutcome.NOT_RUN, CandidateOutcome.ACCEPTED)
    remarks = [
        f"{result.name}: {result.detail}" for result in found if result.detail and result.ending in shown
    ]
    remarks += [
        f'{result.name} took {result.seconds:.0f} s: {result.slowest}. Smaller cases, or `on = "gpu"` for these, make '
        "checks quicker; Triton's interpreter takes as long for a small block as for a large one."
        for result in found
        if result.slowest and result.seconds >= _SLOW_SECONDS
    ]
    return check(name, problems, good, bad=Status.ERROR, remarks=remarks)


def _killed(
    tried: Sequence[CandidateResult],
    role: CandidateRole,
    name: str,
    waives: Mapping[str, str] = MappingProxyType({}),
) -> Check | None:
    """An unwaived survivor is a weakness of the suite; one that does not load proves nothing."""
    found = _of(tried, role)
    if not found:
        return None
    survivors = [result for result in found if result.ending is CandidateOutcome.ACCEPTED]
    problems = [
        f"{result.name} survives all {result.ran} cases" + _proposal(result)
        for result in survivors
        if result.name not in waives
    ]
    broken = [
        f"{result.name} does not load: {result.detail}"
        for result in found
        if result.ending is CandidateOutcome.BROKEN
    ]
    # Without a wrong answer nobody knows whether the suite catches the mistake.
    broken += [
        f"{result.name} {result.no_answer}: {result.detail}" + _REPLACED.get(role, "")
        for result in found
        if result.no_answer
    ]
    broken += _unknown_waivers(found, waives)
    ran = [
        result for result in found if result.ending in (CandidateOutcome.FAILED, CandidateOutcome.ACCEPTED)
    ]
    dead = sum(result.ending is CandidateOutcome.FAILED for result in ran)
    remarks = [
        f"{result.name}: not applicable: {result.detail}"
        for result in found
        if result.ending is CandidateOutcome.NOT_APPLICABLE
    ]
    remarks += [
        f"{result.name}: not run: {result.detail}"
        for result in found
        if result.ending in (CandidateOutcome.COMPILED, CandidateOutcome.NOT_RUN)
    ]
    remarks += [
        f"{result.name} survives, and the challenge waives it: {waives[result.name]}"
        for result in survivors
        if result.name in waives
    ]
    remarks += [
        f"{result.name} is waived, but a case catches it"
        for result in found
        if result.failed and result.name in waives
    ]
    first = [f"{result.name} ({result.failed[0]})" for result in found if result.failed]
    remarks += [f"killed by: {', '.join(first)}"] if first else []
    bad = Status.ERROR if broken else Status.WEAK
    return check(name, broken + problems, f"{dead} of {len(ran)} killed", bad=bad, remarks=remarks)


_REPLACED = {CandidateRole.MUTANT: " (this proves nothing: delete it, and --fix writes another)"}
_UNCLOSED = {
    CandidateRole.MUTANT: ". Add a case that it fails; if its answers are right, delete it, and --fix writes another",
    CandidateRole.GENERIC: '. Add a case that it fails; if there is none, say why under [waives]: "{name}" = "REASON"',
}


def _proposal(result: CandidateResult) -> str:
    if result.proposed:
        return f". It fails this one, for cases.py (--fix adds it):\n{result.proposed}"
    return _UNCLOSED.get(result.role, "").format(name=result.name)


def _unknown_waivers(found: Sequence[CandidateResult], waives: Mapping[str, str]) -> list[str]:
    """``mistake:result`` that matches no generic kernel."""
    if not waives:
        return []
    known = [result.name for result in found]
    unknown = [name for name in waives if ":" in name and name not in known]
    return [f"[waives] names '{name}'; the generic kernels are {', '.join(known)}" for name in unknown]


def _kills(tried: Sequence[CandidateResult], cases: Sequence[str]) -> Check | None:
    """Never fails: some cases only show that something is allowed."""
    wrong = [result for result in tried if result.role.wrong and result.ending is CandidateOutcome.FAILED]
    if not wrong:
        return None
    kills = Counter(name for result in wrong for name in result.failed)
    idle = [name for name in cases if name not in kills]
    listed = [f"{name} kills {count} of {len(wrong)}" for name, count in kills.most_common()]
    summary = f"{len(kills)} of {len(cases)} cases kill; nothing is killed by: {', '.join(idle) or 'none'}"
    return Check(name="kills", status=Status.OK, summary=summary, remarks=listed)
