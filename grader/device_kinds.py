"""The kinds of device that judge submissions.

A new kind needs a row here, its ``grader.judge.device.Device`` and, if boxes get its devices, a row in
``grader.sandbox.gpu``. The command line reads the table: import no torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, Literal

from grader import limits
from grader.errors import UnknownDevice
from grader.languages import ON_EMULATED, ON_GPU, ON_HOST, Language
from grader.sandbox.emulator import is_built
from grader.sandbox.gpu import GPU_KINDS, NVIDIA, Gpu, GpuKind

# For machines without a GPU; nvcc still shows whether CUDA sources compile.
CPU, CPU_ARCHITECTURE = "cpu", "sm_90"
EMULATED, EMULATED_ARCHITECTURE = "emulated", "compute_90a"


@dataclass(frozen=True, kw_only=True)
class DeviceKind:
    name: str
    title: str
    # A pattern of full names that matches no other kind's.
    boards: str
    # Empty if models name the boards.
    only_board: str
    on: str
    # The measured spread of gradings of one kernel: closer times rank equal.
    resolution: float
    # Why its times are not representative, after "times on cpu ...".
    caution: str
    # Memory and arithmetic are measured there, for rooflines.
    ceilings: bool
    # For nvcc; empty if devices report theirs.
    architecture: str
    # "module:name" of a function: board's name and device's number -> ``Device``.
    back_end: str
    gpus: GpuKind | None

    def __post_init__(self) -> None:
        re.compile(self.boards)
        if not (self.name and self.title and self.boards):
            raise ValueError(f"device kind {self.name}: name, title or boards are missing")
        if self.on not in (ON_HOST, ON_GPU, ON_EMULATED) or ":" not in self.back_end:
            raise ValueError(
                f"device kind {self.name}: on is cpu, gpu or emulated, and back_end is module:name"
            )

    @property
    def cases(self) -> Literal["cpu", "gpu"]:
        return "gpu" if self.on == ON_GPU else "cpu"

    @property
    def workloads(self) -> Literal["cpu", "gpu", "emulated"]:
        """See ``Manifest.timed_on``."""
        return "emulated" if self.on == ON_EMULATED else self.cases

    @property
    def samples_large(self) -> bool:
        """Sampled blocks of GPU-only cases (``grader.challenge.pattern``)."""
        return self.on == ON_EMULATED

    @property
    def representative(self) -> bool:
        return not self.caution

    def has(self, board: str) -> bool:
        return re.fullmatch(self.boards, board) is not None


HOST = DeviceKind(
    name="host",
    title="the host's processor",
    boards=re.escape(CPU),
    only_board=CPU,
    on=ON_HOST,
    resolution=0.2,
    caution="come from an interpreter and say nothing of a GPU",
    ceilings=False,
    architecture=CPU_ARCHITECTURE,
    back_end="grader.judge.host_device:host_device",
    gpus=None,
)
EMULATED_GPU = DeviceKind(
    name="emulated",
    title="an emulated GPU",
    boards=re.escape(EMULATED),
    only_board=EMULATED,
    on=ON_EMULATED,
    resolution=0.0,
    caution="are those of a model of an NVIDIA H200, not measured",
    ceilings=False,
    architecture=EMULATED_ARCHITECTURE,
    back_end="grader.judge.host_device:emulated_device",
    gpus=None,
)
# Boards with several GPUs per submission.
_SEVERAL = re.compile(r"-x(\d)$")
# Such as a100-sxm4-80gb, rtx-4090, t4. ``board_of`` prefixes others with "nvidia".
_NVIDIA_BOARDS = (
    r"((gb|gh|mx|[abghklmptv])\d[a-z0-9]*|\d+[a-z]*|pg\d+|gpu|graphics|nvidia|rtx|gtx|gts|gt|titan|grid|cmp|nvs"
    r"|orin|thor|xavier)(-[a-z0-9]+)*"
)
NVIDIA_GPU = DeviceKind(
    name="nvidia",
    title="an NVIDIA GPU",
    boards=_NVIDIA_BOARDS,
    only_board="",
    on=ON_GPU,
    resolution=0.005,
    caution="",
    ceilings=True,
    architecture="",
    back_end="grader.judge.cuda.device:CudaDevice",
    gpus=NVIDIA,
)

# Tests add rows here.
_table = {kind.name: kind for kind in (HOST, EMULATED_GPU, NVIDIA_GPU)}
DEVICE_KINDS = MappingProxyType(_table)


def find_kind(board: str) -> DeviceKind | None:
    """None for an unknown name, as in an old record."""
    return next((kind for kind in DEVICE_KINDS.values() if kind.has(board)), None)


def kind_of(board: str) -> DeviceKind:
    """Raises UnknownDevice."""
    if (found := find_kind(board)) is None:
        kinds = ", ".join(
            f"{kind.title} ({kind.only_board or 'by its model'})" for kind in DEVICE_KINDS.values()
        )
        raise UnknownDevice(f"There is no device '{board}'.", f"Devices are {kinds}.")
    return found


def resolve_back_end(kind: DeviceKind) -> Any:
    """Imports torch."""
    return resolve_name(kind.back_end)


def board_of(gpu: Gpu) -> str:
    """By the GPU's model; of two that are used together: h200-x2."""
    name = board_name(gpu.name) + (f"-x{len(gpu.every)}" if gpu.others else "")
    kind = next(kind for kind in DEVICE_KINDS.values() if kind.gpus is GPU_KINDS[gpu.kind])
    return name if find_kind(name) is kind else f"{kind.name}-{name}"


def gpus_of(board: str) -> int | None:
    """GPUs per submission; None: as its challenge asks."""
    kind = find_kind(board)
    if kind is None or kind.on != ON_GPU:
        return None
    several = _SEVERAL.search(board)
    return int(several[1]) if several else 1


def takes(board: str, gpus: int) -> bool:
    """Boards of several GPUs refuse challenges for one, which would only get a second board."""
    there = gpus_of(board)
    return there is None or (there >= gpus > 1) or there == gpus == 1


def caution_of(board: str) -> str:
    """A record's name may come from another release."""
    kind = find_kind(board)
    return (kind.caution if kind is not None else "") or "say nothing of a GPU"


def resolution_of(board: str) -> float:
    """An unknown name gets a measured GPU's."""
    return (find_kind(board) or NVIDIA_GPU).resolution


def endless_seconds(board: str) -> float:
    kind = find_kind(board) or NVIDIA_GPU
    if kind.on == ON_GPU:
        return limits.CASE_SECONDS
    return limits.CASE_CPU_SECONDS


def fixed_architectures() -> dict[str, str]:
    """Board -> nvcc's architecture."""
    kinds = DEVICE_KINDS.values()
    return {kind.only_board: kind.architecture for kind in kinds if kind.only_board and kind.architecture}


def serves(device: str, language: Language) -> bool:
    kind = find_kind(device)
    return kind is not None and language.runs_on(kind.on)


def default_board() -> str:
    """The emulated GPU, or the processor if that is not built."""
    return EMULATED if is_built() else CPU


def home_board(language: Language) -> str:
    boards = (default_board(), CPU, EMULATED)
    return next((board for board in boards if serves(board, language)), CPU)


def languages_of(device: str) -> list[Language]:
    return [language for language in Language if serves(device, language)]


def compiled_ahead(device: str, language: Language) -> bool:
    """Whether kernels can be compiled elsewhere, before the device is free."""
    kind = find_kind(device)
    return language.kernels_ahead and kind is not None and kind.on == ON_GPU


def representative(device: str) -> bool:
    kind = find_kind(device)
    return kind is not None and kind.representative


def board_name(model: str) -> str:
    """ "NVIDIA H200" -> ``h200``, "Tesla T4" -> ``t4``."""
    words = re.sub(r"(?i)nvidia|tesla|geforce|quadro|\(.*?\)", " ", model).split()
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-") or "gpu"
