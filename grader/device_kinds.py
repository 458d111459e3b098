"""The kinds of device that judge submissions: a table, one row per kind, with everything that differs between them.

A board's name, such as ``cpu`` or ``h200``, belongs to one kind. A new kind needs a row here, its back end for the
judge (``grader.judge.device.Device``) and, if boxes must be given its devices, a row in ``grader.sandbox.gpu``.

Imports no torch: workers, web and command line read the table, too.
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

# The board of machines without a GPU, and the architecture that CUDA sources are compiled for if nothing can run them:
# enough to tell whether they compile.
CPU, CPU_ARCHITECTURE = "cpu", "sm_90"
# The board of the emulated GPU, and what CUDA sources are compiled to for it: PTX.
EMULATED, EMULATED_ARCHITECTURE = "emulated", "compute_90a"


@dataclass(frozen=True, kw_only=True)
class DeviceKind:
    """A row of the table."""

    name: str
    title: str
    # A pattern that matches the full names of its boards, and of no other kind's.
    boards: str
    # The name if there is only one board; empty if models name the boards.
    only_board: str
    # One of ON_HOST, ON_GPU and ON_EMULATED of ``grader.languages``.
    on: str
    # Entries of a board whose times differ by at most this share are not told apart: the measured spread of gradings of
    # one kernel, 0 if there is none.
    resolution: float
    # Why its times are not representative, to follow "times on cpu ..."; empty if they are.
    caution: str
    # True if memory and arithmetic are measured there, so workloads are ranked by their roofline.
    ceilings: bool
    # The architecture that nvcc compiles for; empty if each device tells its own.
    architecture: str
    # "module:name" of the function that makes its ``Device`` from a board's name and a device's number.
    back_end: str
    # How its devices are found and given to boxes; None if a worker needs none.
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
        """Which of the cases that not every board runs are for it."""
        return "gpu" if self.on == ON_GPU else "cpu"

    @property
    def workloads(self) -> Literal["cpu", "gpu", "emulated"]:
        """Which workloads it times, see ``Manifest.timed_on``."""
        return "emulated" if self.on == ON_EMULATED else self.cases

    @property
    def samples_large(self) -> bool:
        """True if it runs sampled blocks of the cases that are for a GPU alone (``grader.challenge.pattern``)."""
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
# Of a worker that gives each submission several GPUs.
_SEVERAL = re.compile(r"-x(\d)$")
# NVIDIA's model names so far, as boards spell them: a100-sxm4-80gb, rtx-4090, gh200-480gb, t4, titan-v.
# The board of any other model begins with "nvidia", see ``board_of``.
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

# Tests add rows to this one; everyone else reads DEVICE_KINDS.
_table = {kind.name: kind for kind in (HOST, EMULATED_GPU, NVIDIA_GPU)}
DEVICE_KINDS = MappingProxyType(_table)


def find_kind(board: str) -> DeviceKind | None:
    """The kind of ``board``; None if there is none, as for a name in an old record."""
    return next((kind for kind in DEVICE_KINDS.values() if kind.has(board)), None)


def kind_of(board: str) -> DeviceKind:
    """Like ``find_kind``, but raises UnknownDevice."""
    if (found := find_kind(board)) is None:
        kinds = ", ".join(
            f"{kind.title} ({kind.only_board or 'by its model'})" for kind in DEVICE_KINDS.values()
        )
        raise UnknownDevice(f"There is no device '{board}'.", f"Devices are {kinds}.")
    return found


def resolve_back_end(kind: DeviceKind) -> Any:
    """The maker of the kind's ``Device``, called with a board's name and a device's number. Imports torch."""
    return resolve_name(kind.back_end)


def board_of(gpu: Gpu) -> str:
    """The board of a GPU, by its model; it always belongs to the GPU's kind. Of two that are used together: h200-x2."""
    name = board_name(gpu.name) + (f"-x{len(gpu.every)}" if gpu.others else "")
    kind = next(kind for kind in DEVICE_KINDS.values() if kind.gpus is GPU_KINDS[gpu.kind])
    return name if find_kind(name) is kind else f"{kind.name}-{name}"


def gpus_of(board: str) -> int | None:
    """How many GPUs a submission has there; None: as many as its challenge asks for."""
    kind = find_kind(board)
    if kind is None or kind.on != ON_GPU:
        return None
    several = _SEVERAL.search(board)
    return int(several[1]) if several else 1


def takes(board: str, gpus: int) -> bool:
    """True if challenges for that many GPUs are judged there. Those for one GPU keep to boards of one: their times
    would be no different, and there would be two boards."""
    there = gpus_of(board)
    return there is None or (there >= gpus > 1) or there == gpus == 1


def caution_of(board: str) -> str:
    """Why times on ``board`` are not representative, to follow "times on cpu ...". For callers that know they are not,
    perhaps from a record of another release: there is an answer for any name."""
    kind = find_kind(board)
    return (kind.caution if kind is not None else "") or "say nothing of a GPU"


def resolution_of(board: str) -> float:
    """The share by which times on ``board`` must differ to be told apart; for an unknown name, a measured GPU's."""
    return (find_kind(board) or NVIDIA_GPU).resolution


def endless_seconds(board: str) -> float:
    """About how long an endless loop keeps a judge busy: until a call's limit ends its box."""
    kind = find_kind(board) or NVIDIA_GPU
    if kind.on == ON_GPU:
        return limits.CASE_SECONDS
    return limits.CASE_CPU_SECONDS


def fixed_architectures() -> dict[str, str]:
    """Board -> nvcc's architecture, for boards where it is known without a device."""
    kinds = DEVICE_KINDS.values()
    return {kind.only_board: kind.architecture for kind in kinds if kind.only_board and kind.architecture}


def serves(device: str, language: Language) -> bool:
    kind = find_kind(device)
    return kind is not None and language.runs_on(kind.on)


def default_board() -> str:
    """The board of a machine without a GPU: the emulated one, or the processor's if that is not built."""
    return EMULATED if is_built() else CPU


def home_board(language: Language) -> str:
    """A board for ``language`` on a machine without a GPU."""
    boards = (default_board(), CPU, EMULATED)
    return next((board for board in boards if serves(board, language)), CPU)


def languages_of(device: str) -> list[Language]:
    return [language for language in Language if serves(device, language)]


def compiled_ahead(device: str, language: Language) -> bool:
    """True if the device runs kernels of ``language`` that can be compiled elsewhere, before it is free."""
    kind = find_kind(device)
    return language.kernels_ahead and kind is not None and kind.on == ON_GPU


def representative(device: str) -> bool:
    kind = find_kind(device)
    return kind is not None and kind.representative


def board_name(model: str) -> str:
    """The board's name for a hardware model: "NVIDIA H200" is ``h200``, "Tesla T4" is ``t4``."""
    words = re.sub(r"(?i)nvidia|tesla|geforce|quadro|\(.*?\)", " ", model).split()
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-") or "gpu"
