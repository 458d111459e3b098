"""Times solutions on an otherwise idle GPU: one faster than the roofline proves a wrong cost."""

from __future__ import annotations

from collections.abc import Sequence

from grader.authoring.calibrate import calibrate, too_tight
from grader.authoring.candidates import Candidate
from grader.authoring.findings import check
from grader.authoring.trial import Trial
from grader.challenge.model import Workload
from grader.judge.assembly import ABOVE_ROOFLINE
from grader.judge.channel import ChannelError
from grader.judge.device import TimingPlan
from grader.judge.launch import Launcher, LoadFailed
from grader.judge.oracle import workload_case
from grader.judge.roofline import roofline_seconds
from grader.judge.rule import ControlRound, settle
from grader.judge.timing import Stopwatch, WrongInTiming
from grader.schemas.proof import CandidateOutcome, Check, Status

# A cost needs fewer rounds than a score.
_PLAN = TimingPlan(rounds=3, most_rounds=3, control_rounds=3, warm_up=1, seconds=2.0)


def measured_check(bench: Trial, solutions: Sequence[Candidate]) -> Check:
    """``cost_measured``: at the longest workload that fits, each solution takes at least its roofline time.
    Raises BoxUnavailable, JudgeFailure, ChallengeInvalid.
    """
    workload = _longest(bench)
    if workload is None:
        return Check(name="cost_measured", status=Status.SKIPPED, summary="no workload fits this GPU")
    manifest = bench.challenge.manifest
    least = roofline_seconds(manifest, workload, bench.device.ceilings())
    if least is None or bench.device.modelled:
        return Check(
            name="cost_measured", status=Status.SKIPPED, summary="this device has no measured ceilings"
        )
    figures, problems = [], []
    control = _control(bench, solutions[0], workload) if solutions else []
    for candidate in solutions:
        seconds, fault = _seconds(bench, candidate, workload, control)
        if seconds is None:
            problems.append(f"{candidate.name}: {workload.name}: {fault}")
            continue
        share = least / seconds
        figures.append(f"{candidate.name}: {seconds * 1e6:.0f} us, {share:.2f} of the speed of light")
        if share > ABOVE_ROOFLINE:
            problems.append(f"{figures[-1]}: cost.bytes or cost.flops is too high")
    good = f"{workload.name}: {'; '.join(figures)}"
    return check("cost_measured", problems, good, bad=Status.ERROR, remarks=figures if problems else [])


def calibrated_check(bench: Trial) -> Check:
    """``workload_tolerance``: native PyTorch has headroom at every workload that fits. Raises
    ChallengeInvalid if the reference fails.
    """
    import torch

    problems = []
    fitting = _fitting(bench)
    for workload in fitting:
        case = workload_case(bench.challenge, workload)
        found = calibrate(bench.challenge, [case], bench.device.torch_device, bench.device.torch_device)
        problems += found.disagreements + too_tight(found)
        torch.cuda.empty_cache()
    good = f"native is within the tolerance at {', '.join(workload.name for workload in fitting) or 'no workload'}"
    return check("workload_tolerance", problems, good, bad=Status.ERROR)


def _fitting(bench: Trial) -> list[Workload]:
    workloads, plan = bench.challenge.manifest.workloads, bench.device.memory_plan
    return [
        workload
        for workload in workloads
        if workload.on == "gpu" and (plan is None or not plan.shortage(bench.challenge, workload))
    ]


def _longest(bench: Trial) -> Workload | None:
    manifest, ceilings = bench.challenge.manifest, bench.device.ceilings()
    fitting = _fitting(bench)
    times = {workload.name: roofline_seconds(manifest, workload, ceilings) or 0.0 for workload in fitting}
    return max(fitting, key=lambda workload: times[workload.name], default=None)


def _control(bench: Trial, candidate: Candidate, workload: Workload) -> list[ControlRound]:
    launcher = bench.launcher(candidate)
    try:
        return _stopwatch(bench, launcher, workload, "control").control(launcher.control())
    finally:
        launcher.close()


def _stopwatch(bench: Trial, launcher: Launcher, workload: Workload, part: str) -> Stopwatch:
    key = launcher.request.seed_key
    stopwatch = Stopwatch(bench.challenge, workload, key, bench.device, f"check {part}")
    stopwatch.plan = _PLAN
    return stopwatch


def _seconds(
    bench: Trial, candidate: Candidate, workload: Workload, control: Sequence[ControlRound]
) -> tuple[float | None, str]:
    """By the scoring rule, with every round compared in full; or None and the failure."""
    launcher = bench.launcher(candidate)
    try:
        if (prevented := bench.compile_into(launcher, candidate)) is not None:
            return None, prevented[1] if prevented[
                0
            ] is not CandidateOutcome.COMPILED else "nothing here can run it"
        remote = launcher.submission()
        own = _stopwatch(bench, launcher, workload, candidate.name).own(remote)
        return settle(own, control, control, bench.device.noise).time.value, ""
    except LoadFailed as failed:
        return None, failed.detail
    except WrongInTiming:
        return None, "its answer is wrong"
    except ChannelError as error:
        return None, f"its box failed: {error}"
    finally:
        launcher.close()
