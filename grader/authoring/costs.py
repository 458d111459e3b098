"""Plausibility of costs and workloads."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.authoring.findings import check, unless_waived
from grader.challenge.cases import Case
from grader.challenge.draw import draw_inputs
from grader.challenge.expression import ExpressionError, parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Manifest, Waivable
from grader.judge.cuda.memory_needs import workload_bytes
from grader.judge.oracle import arguments
from grader.judge.roofline import roofline_seconds
from grader.limits import GIB, RANKED_ROOFLINE_US
from grader.schemas.proof import Check

# The fastest GPU measured, in bytes/s and operations/s: a workload long enough there is long enough
# elsewhere.
H200 = {
    "bandwidth": 4.57e12,
    "rate:float32": 51e12,
    "rate:float16": 700e12,
    "rate:bfloat16": 700e12,
    "rate:int8": 1400e12,
}
# GPUs of one model differ by some percent: a size this close to the limit would rank on some only.
UNCLEAR = 0.05
# The smallest supported GPU, and a workload's share of its memory.
SMALLEST_GPU_BYTES, PLANNED_SHARE = 16 * GIB, 0.8
# A kernel may read inputs a few times.
MOST_BYTES = 4.0
LEFT_OUT = 0.01
# A causal mask halves the need, and torch may count a multiply-add as one.
FLOPS_BAND = (0.4, 2.5)
_SEED = 11


def cost_checks(challenge: Challenge) -> list[Check]:
    """``cost_bytes``, ``cost_flops``, ``workloads``. Raises ChallengeInvalid if the reference fails."""
    return [_bytes(challenge), _flops(challenge), _workloads(challenge)]


def least_bytes(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    """Inputs read and results written once, unless a count or absence spares them. Of several GPUs, the most."""
    return max(
        sum(
            _passes(manifest, arg) * _nbytes(manifest, arg, sizes)
            for arg in manifest.operands
            if manifest.on_each(arg) or gpu == (arg.on or 0)
        )
        for gpu in range(manifest.gpus)
    )


def _passes(manifest: Manifest, arg: Argument) -> int:
    if arg.kind is Kind.INOUT:
        return 2
    cut = manifest.compare.get(arg.name)
    return 0 if arg.valid or (cut is not None and cut.first is not None) else 1


def _nbytes(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> int:
    return arg.dtype.bytes_of(math.prod(manifest.shape(arg, sizes))) // (
        manifest.gpus if manifest.on_each(arg) else 1
    )


def _bytes(challenge: Challenge) -> Check:
    manifest = challenge.manifest
    problems = []
    for workload in manifest.workloads:
        said, least = parse(manifest.cost.bytes)(workload.sizes), least_bytes(manifest, workload.sizes)
        if not least * (1 - LEFT_OUT) <= said <= MOST_BYTES * least:
            problems.append(
                f"{workload.name}: cost.bytes is {said:.4g}; inputs and results have {least:.4g}, "
                f"so it must be between that and {MOST_BYTES:g} times that"
            )
    return _unless_waived(challenge, "cost_bytes", problems, "cost.bytes fits the signature")


def _flops(challenge: Challenge) -> Check:
    """torch counts no elementwise work."""
    manifest = challenge.manifest
    problems = []
    for workload in manifest.workloads:
        if parse(manifest.cost.flops)(workload.sizes) < 0:
            problems.append(f"{workload.name}: cost.flops is negative")
    small = [case for case in challenge.cases if case.on is None]
    case = max(small, key=lambda case: _said_flops(manifest, case))
    counted, said = _counted_flops(challenge, case), _said_flops(manifest, case)
    if not counted:
        return _unless_waived(challenge, "cost_flops", problems, "torch counts no product in the reference")
    low, high = FLOPS_BAND
    if not low * counted <= said <= high * counted:
        problems.append(f"{case.name}: cost.flops is {said:.4g}, torch counts {counted:.4g} in the reference")
    return _unless_waived(challenge, "cost_flops", problems, f"{said / counted:.2f} of what torch counts")


def _said_flops(manifest: Manifest, case: Case) -> float:
    try:
        return parse(manifest.cost.flops)(case.sizes)
    except ExpressionError:  # 0 / 0 at an empty size; workloads have none
        return 0.0


def _counted_flops(challenge: Challenge, case: Case) -> int:
    from torch.utils.flop_counter import FlopCounterMode

    given = arguments(challenge.manifest, case, draw_inputs(challenge.manifest, case, _SEED))
    with FlopCounterMode(display=False) as counter:
        challenge.reference.compute(**given)
    return int(counter.get_total_flops())


def _workloads(challenge: Challenge) -> Check:
    manifest = challenge.manifest
    on_gpu = [workload for workload in manifest.workloads if workload.on == "gpu"]
    problems = []
    if not any(workload.on == "cpu" for workload in manifest.workloads):
        problems.append("no workload is for the interpreter: on = 'cpu'")
    if not any(workload.on == "emulated" for workload in manifest.workloads):
        problems.append(
            "no workload is for the emulated GPU: on = 'emulated'. Its board times the interpreter's, at which the "
            "launch takes longer than the work"
        )
    times = {workload.name: roofline_seconds(manifest, workload, H200) or 0.0 for workload in on_gpu}
    longest = max(times.values(), default=0.0)
    if longest * 1e6 < RANKED_ROOFLINE_US:
        problems.append(
            f"none is long enough to be ranked: {longest * 1e6:.0f} us at an H200's speed, "
            f"{RANKED_ROOFLINE_US:.0f} are needed"
        )
    problems += [
        f"{name} takes {seconds * 1e6:.0f} us at an H200's speed, too close to the {RANKED_ROOFLINE_US:.0f} us from "
        "which a size is ranked: some GPUs of a board would rank it and others would not"
        for name, seconds in times.items()
        if abs(seconds * 1e6 / RANKED_ROOFLINE_US - 1) < UNCLEAR
    ]
    if (
        on_gpu
        and min(workload_bytes(challenge, workload) for workload in on_gpu)
        > SMALLEST_GPU_BYTES * PLANNED_SHARE
    ):
        problems.append("none fits a GPU of 16 GB together with the judge's own memory")
    listed = ", ".join(f"{name}: {seconds * 1e6:.0f} us" for name, seconds in times.items())
    return _unless_waived(challenge, "workloads", problems, f"at an H200's speed {listed}")


def _unless_waived(challenge: Challenge, name: Waivable, problems: list[str], good: str) -> Check:
    return unless_waived(check(name, problems, good), challenge.manifest.waives.get(name))
