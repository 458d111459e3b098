from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from grader.challenge.model import MOST_GPUS
from grader.device_kinds import board_of
from grader.errors import BadRequest, BoxUnavailable
from grader.sandbox.gpu import NVIDIA, Gpu, divided_gpus, find_gpus, has_mps, together

if TYPE_CHECKING:
    from grader.records.gpus import GpuRecord

ALL, NONE = "all", "none"


def chosen_gpus(wanted: str, find: Callable[[], list[Gpu]] | None = None) -> list[Gpu]:
    """``wanted``: "all", or numbers and UUIDs separated by commas; one worker uses those joined by "+"
    together.

    Raises BoxUnavailable if this process can use none or only with others, BadRequest if it cannot use the named one.
    """
    found = (find or find_gpus)()
    if not found:
        _check_no_part()
        raise BoxUnavailable(
            "No NVIDIA GPU was found on this machine.",
            f"`nvidia-smi` must list it{_and_visible()}. Without a GPU: grader worker --device emulated",
        )
    if wanted == ALL:
        chosen = found
    else:
        names = [name.strip() for name in wanted.split(",") if name.strip()]
        chosen = list(dict.fromkeys(_joined(name, found) for name in names))
    _check_alone(chosen)
    return chosen


def _check_no_part() -> None:
    """Raises BoxUnavailable."""
    visible = os.environ.get(NVIDIA.visible, "")
    if "MIG-" in visible:
        raise BoxUnavailable(
            f"{NVIDIA.visible} names a part of a GPU ({visible}), and the other parts change its times.",
            "Ask the scheduler for a whole GPU. Without one: grader worker --device emulated",
        )


def _check_alone(gpus: list[Gpu]) -> None:
    """Raises BoxUnavailable: whoever shares a GPU changes its times."""
    divided = divided_gpus()
    for gpu in (each for joined in gpus for each in joined.every):
        if gpu.uuid in divided:
            raise BoxUnavailable(
                f"GPU {gpu.index} ({gpu.name}) is divided by MIG, and its parts change each other's times.",
                f"nvidia-smi -i {gpu.index} -mig 0, or serve other GPUs: --gpu N",
            )
    if has_mps():
        raise BoxUnavailable(
            "NVIDIA's Multi-Process Service runs on this machine: programs share its GPUs, and change each other's "
            "times.",
            "End it: echo quit | nvidia-cuda-mps-control. Without a GPU: grader worker --device emulated",
        )


def _joined(names: str, found: list[Gpu]) -> Gpu:
    gpus = list(dict.fromkeys(_named(name.strip(), found) for name in names.split("+")))
    if other := [gpu for gpu in gpus if gpu.name != gpus[0].name]:
        raise BadRequest(
            f"GPU {gpus[0].index} ({gpus[0].name}) and GPU {other[0].index} ({other[0].name}) are of different models.",
            "Join GPUs of one model.",
        )
    if len(gpus) > MOST_GPUS:
        raise BadRequest(f"A worker has at most {MOST_GPUS} GPUs, not {len(gpus)}.")
    return together(gpus)


def _named(name: str, found: list[Gpu]) -> Gpu:
    for gpu in found:
        if name in (str(gpu.index), gpu.uuid):
            return gpu
    there = ", ".join(f"{gpu.index} ({gpu.name}, {gpu.uuid})" for gpu in found)
    visible = f" {NVIDIA.visible} hides others." if NVIDIA.visible in os.environ else ""
    raise BadRequest(f"There is no GPU '{name}' on this machine.", f"GPUs: {there}; or all.{visible}")


def _and_visible() -> str:
    wanted = os.environ.get(NVIDIA.visible)
    return "" if wanted is None else f", and {NVIDIA.visible} (now '{wanted}') must name it"


class ProbedGpu(Protocol):
    @property
    def device_model(self) -> str: ...

    @property
    def architecture(self) -> str: ...


def record_of(gpu: Gpu, judge: ProbedGpu) -> GpuRecord:
    from grader.records.gpus import GpuRecord

    return GpuRecord(gpu.uuid, board_of(gpu), judge.device_model, judge.architecture)
