"""Which GPUs a worker was asked to serve."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from grader.device_kinds import board_of
from grader.errors import BadRequest, BoxUnavailable
from grader.sandbox.gpu import Gpu, find_gpus

if TYPE_CHECKING:
    from grader.records.gpus import GpuRecord

# What --gpu takes besides numbers and UUIDs.
ALL, NONE = "all", "none"


def chosen_gpus(wanted: str, find: Callable[[], list[Gpu]] | None = None) -> list[Gpu]:
    """The GPUs named by ``wanted``: "all", or numbers and UUIDs separated by commas.

    Raises BoxUnavailable where this machine has none, BadRequest where it lacks the one named.
    """
    found = (find or find_gpus)()
    if not found:
        raise BoxUnavailable(
            "No NVIDIA GPU answers on this machine.",
            "`nvidia-smi` must list it; without a GPU: grader worker --device emulated",
        )
    if wanted == ALL:
        return found
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    return list(dict.fromkeys(_named(name, found) for name in names))


def _named(name: str, found: list[Gpu]) -> Gpu:
    for gpu in found:
        if name in (str(gpu.index), gpu.uuid):
            return gpu
    there = ", ".join(f"{gpu.index} ({gpu.name}, {gpu.uuid})" for gpu in found)
    raise BadRequest(f"There is no GPU '{name}' here.", f"GPUs: {there}; or all.")


class ProbedGpu(Protocol):
    """A judge that has used the GPU, and so knows what it is."""

    @property
    def device_model(self) -> str: ...

    @property
    def architecture(self) -> str: ...


def record_of(gpu: Gpu, judge: ProbedGpu) -> GpuRecord:
    """What is kept of a GPU for who compiles for it elsewhere."""
    from grader.records.gpus import GpuRecord

    return GpuRecord(gpu.uuid, board_of(gpu), judge.device_model, judge.architecture)
