from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from grader import scoring
from grader.challenge.cases import Case
from grader.challenge.model import Manifest, Workload
from grader.device_kinds import kind_of
from grader.judge.device import RatedDevice
from grader.judge.request import Request
from grader.judge.roofline import is_ranked, light_cost, light_seconds
from grader.judge.rule import BETWEEN_BOXES, Measured
from grader.schemas.hardware import KernelUsage
from grader.schemas.report import (
    COMPANY,
    EVERY_CASE,
    TOO_SHORT,
    BrokenRule,
    CaseGroup,
    CaseReport,
    CaseVerdict,
    Flag,
    Report,
    Score,
    Verdict,
    WorkloadReport,
    hidden_cases,
    large_sizes,
)
from grader.schemas.verdict import Fault
from grader.scoring import Estimate

# Points below this are rounding.
_NO_REST = 1e-9
# Measured ceilings are accurate to a few percent; beyond this, staff should check.
ABOVE_ROOFLINE = 1.05


class Found(TypedDict, total=False):
    cases: Sequence[CaseReport]
    workloads: Sequence[WorkloadReport]
    kernels: Sequence[KernelUsage]
    library_ops: Sequence[str]
    detail: str
    hint: str
    log: str
    remarks: Sequence[str]
    #: The host computes a part of this workload's result, but only the device is timed.
    on_host: str
    too_fast: bool
    #: Ranked workloads that lacked memory.
    crowded_out: Sequence[str]
    #: Public cases for which the device lacks memory.
    left_out: Sequence[str]
    broken_rules: Sequence[BrokenRule]
    #: Why rules for compiled code could not be checked.
    unchecked: str


def report(request: Request, verdict: Verdict, environment: Mapping[str, str], found: Found) -> Report:
    cases, workloads = found.get("cases", ()), found.get("workloads", ())
    library_ops, on_host = found.get("library_ops", ()), found.get("on_host", "")
    crowded_out = found.get("crowded_out", ())
    why = _why_unranked(request, workloads, library_ops, crowded_out)
    unranked = _ON_HOST.format(on_host) if on_host else found.get("unchecked") or why
    score = score_of(cases, workloads, len(request.cases), unranked)
    return Report(
        verdict=verdict,
        flags=flags_of(workloads, library_ops, on_host=bool(on_host), too_fast=found.get("too_fast", False)),
        challenge=request.challenge.slug,
        version=request.challenge.manifest.version,
        language=request.language,
        device=request.device,
        representative=kind_of(request.device).representative,
        cases=list(cases),
        hidden=hidden_cases(
            [case for case in cases if case.hidden], named=request.challenge.manifest.name_hidden_categories
        ),
        large_sizes=large_sizes(cases),
        groups=case_groups(request, cases, verdict),
        workloads=list(workloads),
        score=score,
        reward=reward_of(verdict, workloads, score),
        kernels=list(found.get("kernels", ())),
        library_ops=list(library_ops),
        compiler_log=found.get("log", ""),
        detail=found.get("detail", ""),
        hint=found.get("hint", ""),
        remarks=list(found.get("remarks", ())),
        left_out=list(found.get("left_out", ())),
        broken_rules=list(found.get("broken_rules", ())),
        environment=dict(environment),
    )


def case_groups(request: Request, reports: Sequence[CaseReport], verdict: Verdict) -> list[CaseGroup]:
    """No points if a rule is broken. A group without cases on this board leaves its points to all cases together."""
    accepted, broken = verdict is Verdict.ACCEPTED, verdict is Verdict.BROKEN_RULE
    grading = request.challenge.manifest.grading
    if not grading.groups or request.public_only or request.own is not None:
        return []
    right = {
        report.name
        for report in reports
        if report.verdict is CaseVerdict.ACCEPTED or not (report.hidden or report.verdict.holds_back)
    }
    taken: dict[str, list[Case]] = {group.name: [] for group in grading.groups}
    for case in request.cases:
        group = grading.group_of(case)
        if group is not None:
            taken[group.name].append(case)
    found: list[CaseGroup] = []
    for group in grading.groups:
        cases = taken[group.name]
        if not cases:
            continue
        passed = sum(case.name in right for case in cases)
        lacks = [known.name for known in found if known.name in group.needs and not known.points]
        shown = not any(case.hidden for case in cases)
        found.append(
            CaseGroup(
                name=group.name,
                points=group.points if passed == len(cases) and not (lacks or broken) else 0.0,
                most=group.points,
                right=passed if shown else None,
                cases=len(cases) if shown else None,
                lacks=[] if broken else lacks,
                rule_broken=broken,
            )
        )
    if (rest := grading.correctness_points - sum(group.most for group in found)) > _NO_REST:
        found.append(
            CaseGroup(name=EVERY_CASE, points=rest if accepted else 0.0, most=rest, rule_broken=broken)
        )
    return found


@dataclass(frozen=True)
class TimedWorkload:
    workload: Workload
    measured: Measured
    #: Microseconds; None: too short to measure.
    baselines: Mapping[str, float | None]
    untimed: Mapping[str, str] = field(default_factory=dict)


def verdict_of(cases: Sequence[CaseReport]) -> Verdict:
    """Hidden failures are always a wrong answer: a submission chooses how it fails, and could leak their data."""
    failed = [
        case
        for case in cases
        if case.verdict.holds_back or (case.hidden and case.verdict is not CaseVerdict.ACCEPTED)
    ]
    for case in failed:
        if not case.hidden and case.verdict is not CaseVerdict.NOT_RUN:
            return Verdict(case.verdict.value)
    return Verdict.WRONG_ANSWER if failed else Verdict.ACCEPTED


def workload_report(manifest: Manifest, timed: TimedWorkload, device: RatedDevice) -> WorkloadReport:
    workload, measured = timed.workload, timed.measured
    time_us = measured.time.value * 1e6 if measured.known else None
    low, high = (edge * 1e6 for edge in measured.time.interval)
    eager = timed.baselines.get("eager")
    roofline = light_seconds(manifest, workload, device.ceilings())
    return WorkloadReport(
        name=workload.name,
        sizes=dict(workload.sizes),
        ranked=is_ranked(manifest, workload, device),
        time_us=time_us,
        ci_us=(low, high),
        rounds=measured.rounds,
        baselines_us={name: us for name, us in timed.baselines.items() if us is not None},
        short_baselines=[name for name, us in timed.baselines.items() if us is None],
        untimed_baselines=dict(timed.untimed),
        speedup=eager / time_us if eager and time_us is not None else None,
        sol=roofline * 1e6 / time_us if roofline is not None and time_us is not None else None,
        roofline_us=roofline * 1e6 if roofline is not None else None,
        cost=light_cost(manifest, workload, device.ceilings()),
        host_us=measured.host * 1e6 if measured.gated and not device.on_processor else None,
        gated=measured.gated,
        fixed_us=None if device.modelled else measured.fixed * 1e6,
        company=measured.company,
        gpu=measured.gpu,
        profile=measured.profile,
        charged_us=measured.charged * 1e6,
        noise_us=measured.noise * 1e6,
    )


def flags_of(
    workloads: Sequence[WorkloadReport],
    library_ops: Sequence[str] = (),
    *,
    on_host: bool = False,
    too_fast: bool = False,
) -> list[Flag]:
    found = [Flag.LIBRARY_KERNEL] if library_ops else []
    if on_host:
        found.append(Flag.HOST_COMPUTED)
    if too_fast or any(
        workload.ranked and workload.sol is not None and workload.sol > ABOVE_ROOFLINE
        for workload in workloads
    ):
        found.append(Flag.ABOVE_ROOFLINE)
    # Everyone's E is sometimes slightly above its noise: less than the noise is charged.
    if any(workload.charged_us > workload.noise_us for workload in workloads):
        found.append(Flag.WORK_OUTSIDE_GATE)
    return found


def score_of(
    cases: Sequence[CaseReport], workloads: Sequence[WorkloadReport], total: int, unranked: str = ""
) -> Score:
    """``total``: all cases except those not covered. ``unranked``: why times make no score."""
    passed = sum(case.verdict is CaseVerdict.ACCEPTED for case in cases)
    total = max(total, len(cases)) - sum(case.verdict is CaseVerdict.NOT_COVERED for case in cases)
    ranked = [workload for workload in workloads if workload.ranked]
    known = [
        Estimate(workload.time_us, workload.ci_us) for workload in ranked if workload.time_us is not None
    ]
    if not ranked or unranked or len(known) < len(ranked):
        return Score(passed=passed, total=total, unranked=unranked)
    whole = scoring.combine(known, BETWEEN_BOXES)
    baselines = [workload.baselines_us.get("eager") for workload in ranked]
    return Score(
        time_us=whole.value,
        ci=whole.interval,
        speedup=scoring.speedup([estimate.value for estimate in known], baselines),
        passed=passed,
        total=total,
    )


def reward_of(verdict: Verdict, workloads: Sequence[WorkloadReport], score: Score) -> float | None:
    """See ``Report.reward``."""
    if verdict.row.fault is Fault.PLATFORM:
        return None
    if verdict is not Verdict.ACCEPTED:
        return 0.0
    shares = [workload.sol for workload in workloads if workload.ranked]
    known = [share for share in shares if share is not None]
    if score.time_us is None or len(known) < len(shares):
        return None
    return min(1.0, scoring.geometric_mean(known))


_ON_HOST = (
    "It is right but has no time here: when the work of workload '{}' was counted, its result was wrong, because then "
    "the host sees only noise, or a few bytes, of the arrays. On this board only kernels may compute the result."
)


_CROWDED_OUT = (
    "Workload {} was not timed: something else held the GPU's memory. The other sizes alone are not ranked; submit "
    "again, and tell staff if it happens again."
)


def _why_unranked(
    request: Request,
    workloads: Sequence[WorkloadReport],
    library_ops: Sequence[str],
    crowded_out: Sequence[str],
) -> str:
    if library_ops and workloads and request.challenge.manifest.library_kernels == "unranked":
        return "It calls a library's kernel, but this challenge ranks only your own kernels."
    if any(workload.ranked and workload.company for workload in workloads):
        return COMPANY
    if crowded_out:
        return _CROWDED_OUT.format(" and ".join(f"'{name}'" for name in crowded_out))
    if short := [workload.name for workload in workloads if workload.ranked and workload.time_us is None]:
        named = " and ".join(f"'{name}'" for name in short)
        return (
            f"Workload {named} is {TOO_SHORT}." if len(short) == 1 else f"Workloads {named} are {TOO_SHORT}."
        )
    return ""
