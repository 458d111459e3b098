"""Puts a report together from what judging found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from grader import scoring
from grader.challenge.model import Manifest, Workload
from grader.judge.device import Device
from grader.judge.request import CPU, Request
from grader.judge.roofline import cost_of, is_ranked, roofline_seconds
from grader.judge.rule import Measured
from grader.schemas.hardware import KernelUsage
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Flag,
    Report,
    Score,
    Verdict,
    WorkloadReport,
)
from grader.scoring import Estimate

# Measured ceilings are good to a few percent; beyond this somebody should look.
ABOVE_ROOFLINE = 1.05


class Found(TypedDict, total=False):
    """What of a report is there only where judging came to it. ``log``: the compiler's."""

    cases: Sequence[CaseReport]
    workloads: Sequence[WorkloadReport]
    kernels: Sequence[KernelUsage]
    library_ops: Sequence[str]
    detail: str
    hint: str
    log: str
    remarks: Sequence[str]


def report(request: Request, verdict: Verdict, environment: Mapping[str, str], found: Found) -> Report:
    """The report on ``request``, with flags and score."""
    cases, workloads = found.get("cases", ()), found.get("workloads", ())
    library_ops = found.get("library_ops", ())
    return Report(
        verdict=verdict,
        flags=flags_of(workloads, library_ops),
        challenge=request.challenge.slug,
        version=request.challenge.manifest.version,
        language=request.language,
        device=request.device,
        representative=request.device != CPU,
        cases=list(cases),
        workloads=list(workloads),
        score=score_of(cases, workloads, len(request.cases)),
        kernels=list(found.get("kernels", ())),
        library_ops=list(library_ops),
        compiler_log=found.get("log", ""),
        detail=found.get("detail", ""),
        hint=found.get("hint", ""),
        remarks=list(found.get("remarks", ())),
        environment=dict(environment),
    )


@dataclass(frozen=True)
class TimedWorkload:
    """One workload's measurement and the baselines (microseconds) that it is compared with."""

    workload: Workload
    measured: Measured
    baselines: Mapping[str, float]


def verdict_of(cases: Sequence[CaseReport]) -> Verdict:
    """The verdict of the first case that failed; accepted where none did."""
    for case in cases:
        if case.verdict not in (CaseVerdict.ACCEPTED, CaseVerdict.NOT_RUN):
            return Verdict(case.verdict.value)
    return Verdict.ACCEPTED


def workload_report(manifest: Manifest, timed: TimedWorkload, device: Device) -> WorkloadReport:
    workload, measured = timed.workload, timed.measured
    time_us = measured.time.value * 1e6
    low, high = (edge * 1e6 for edge in measured.time.interval)
    eager = timed.baselines.get("eager")
    roofline = roofline_seconds(manifest, workload, device.ceilings())
    return WorkloadReport(
        name=workload.name,
        sizes=dict(workload.sizes),
        ranked=is_ranked(manifest, workload, device),
        time_us=time_us,
        ci_us=(low, high),
        rounds=measured.rounds,
        baselines_us=dict(timed.baselines),
        speedup=eager / time_us if eager else None,
        sol=roofline / measured.time.value if roofline is not None else None,
        roofline_us=roofline * 1e6 if roofline is not None else None,
        cost=cost_of(manifest, workload, device.ceilings()),
        host_us=measured.host * 1e6 if measured.gated and device.name != CPU else None,
        gated=measured.gated,
        fixed_us=measured.fixed * 1e6,
        gpu=measured.gpu,
        charged_us=measured.charged * 1e6,
        noise_us=measured.noise * 1e6,
    )


def flags_of(workloads: Sequence[WorkloadReport], library_ops: Sequence[str] = ()) -> list[Flag]:
    """``library_ops``: torch's own operations that the runner said it saw."""
    found = [Flag.LIBRARY_KERNEL] if library_ops else []
    if any(it.ranked and it.sol is not None and it.sol > ABOVE_ROOFLINE for it in workloads):
        found.append(Flag.ABOVE_ROOFLINE)
    # Less than its noise is charged where E is hardly beyond it, as now and then happens to everybody.
    if any(it.charged_us > it.noise_us for it in workloads):
        found.append(Flag.WORK_OUTSIDE_GATE)
    return found


def score_of(cases: Sequence[CaseReport], workloads: Sequence[WorkloadReport], total: int) -> Score:
    """``total``: the cases there are, also where judging ended before it came to them."""
    passed = sum(case.verdict is CaseVerdict.ACCEPTED for case in cases)
    total = max(total, len(cases))
    ranked = [it for it in workloads if it.ranked]
    if not ranked:
        return Score(passed=passed, total=total)
    whole = scoring.combine([Estimate(it.time_us, it.ci_us) for it in ranked])
    baselines = [it.baselines_us.get("eager") for it in ranked]
    return Score(
        time_us=whole.value,
        ci=whole.interval,
        speedup=scoring.speedup([it.time_us for it in ranked], baselines),
        passed=passed,
        total=total,
    )
