"""An extra untimed call of a finished submission shows which operations torch itself ran.

It is a flag for staff: the submission reports it, so no verdict and no time depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from grader.challenge.cases import Case
from grader.challenge.draw import draw_inputs
from grader.challenge.model import Workload
from grader.judge.arena import Arena
from grader.judge.channel import ChannelError
from grader.judge.device import ArrayDevice
from grader.judge.messages import SeenKernel
from grader.judge.oracle import scalar_values, workload_case
from grader.judge.request import Request
from grader.judge.runner_client import RunnerClient
from grader.schemas.hardware import KernelUsage, Witness


@dataclass(frozen=True)
class Survey:
    library_ops: Sequence[str] = ()
    kernels: Sequence[KernelUsage] = ()


def survey(
    client: RunnerClient, request: Request, workloads: Sequence[Workload], device: ArrayDevice
) -> Survey:
    """Call until an operation is seen. A failing box has no effect: it has been judged."""
    kernels: dict[str, KernelUsage] = {}
    with suppress(ChannelError):
        for workload in workloads:
            found = _survey(client, request, workload, device)
            for kernel in found.kernels:
                kernels.setdefault(kernel.name, kernel)
            if found.library_ops:
                return Survey(found.library_ops, tuple(kernels.values()))
    return Survey(kernels=tuple(kernels.values()))


def library_operations(
    client: RunnerClient, request: Request, cases: Sequence[Case], device: ArrayDevice
) -> Sequence[str]:
    """Torch's operations: calls until some are seen."""
    with suppress(ChannelError):
        for case in cases:
            if operations := _survey_case(client, request, case, device).library_ops:
                return operations
    return ()


def _survey(client: RunnerClient, request: Request, workload: Workload, device: ArrayDevice) -> Survey:
    return _survey_case(client, request, workload_case(request.challenge, workload), device)


def _survey_case(client: RunnerClient, request: Request, case: Case, device: ArrayDevice) -> Survey:
    manifest = request.challenge.manifest
    inputs = draw_inputs(manifest, case, request.seed_of(case), device.torch_device)
    arena = Arena(manifest, case.sizes, scalar_values(manifest, case), device.memories, without=case.without)
    # Torch does all of its operations even if kernels do a part of theirs.
    part: dict[str, Any] = {"sample": {"seed": 0, "targets": [], "fill": False}, "unchecked": True}
    try:
        client.bind(arena)
        seen = client.warm_up(
            arena,
            inputs,
            manifest.limits.call_seconds(device.on_processor),
            survey=True,
            **(part if device.modelled else {}),
        ).seen
    finally:
        arena.close()
        client.unbind()
    if seen is None:
        return Survey()
    return Survey(list(dict.fromkeys(seen.library_ops)), [_usage(kernel) for kernel in seen.kernels])


def _usage(kernel: SeenKernel) -> KernelUsage:
    return KernelUsage(
        name=kernel.name,
        registers=kernel.registers,
        shared_bytes=kernel.shared_bytes,
        stack_bytes=kernel.local_bytes,
        said_by=Witness.RUNNER,
    )
