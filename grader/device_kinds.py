"""The kinds of device that submissions are judged on: everything that differs between them, a row each.

A board's name, such as ``cpu`` or ``h200``, belongs to one kind. A new kind is a row here, its back end for the judge
(``grader.judge.device.Device``) and, where boxes must be given its devices, a row of ``grader.sandbox.gpu``.

Imports no torch: workers, the web and the command line read the table, too.
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

# The board of machines without a GPU, and what a CUDA source is compiled for where nothing can run it: enough to tell
# whether it compiles.
CPU, CPU_ARCHITECTURE = "cpu", "sm_90"
# The board of the emulated GPU, and what a CUDA source is compiled to for it: PTX.
EMULATED, EMULATED_ARCHITECTURE = "emulated", "compute_90a"


@dataclass(frozen=True, kw_only=True)
class DeviceKind:
    """What the judge, its worker, the web and the command line ask about a device.

    ``boards``: a pattern that matches the whole name of each of its boards, and of no other kind's.
    ``only_board``: the name where there is one alone; empty where models name the boards.
    ``on``: what runs a language there, as ``grader.languages`` names it.
    ``resolution``: entries of one board whose times differ by no larger share are not told apart: what gradings of one
    and the same kernel differ by (measured), and 0 where they never do.
    ``caution``: why its times are not representative, as in "times on cpu ..."; empty where they are.
    ``ceilings``: memory and arithmetic are measured there, so workloads are ranked by their roofline.
    ``architecture``: what nvcc compiles for; empty where each device says so itself.
    ``back_end``: "module:name" of what makes its ``Device`` from a board's name and a device's number.
    ``gpus``: how its devices are found, and what boxes are given of them; None where a worker needs none.
    """

    name: str
    title: str
    boards: str
    only_board: str
    on: str
    resolution: float
    caution: str
    ceilings: bool
    architecture: str
    back_end: str
    gpus: GpuKind | None

    def __post_init__(self) -> None:
        re.compile(self.boards)
        if not (self.name and self.title and self.boards):
            raise ValueError(f"device kind {self.name}: its name, title or boards are missing")
        if self.on not in (ON_HOST, ON_GPU, ON_EMULATED) or ":" not in self.back_end:
            raise ValueError(
                f"device kind {self.name}: on is cpu, gpu or emulated, and back_end is module:name"
            )

    @property
    def workloads(self) -> Literal["cpu", "gpu"]:
        """Which of a challenge's workloads it runs: those of a size for a processor, or those for a GPU."""
        return "gpu" if self.on == ON_GPU else "cpu"

    @property
    def samples_large(self) -> bool:
        """Whether it runs sampled blocks of cases that are for a GPU alone (``grader.challenge.pattern``)."""
        return self.on == ON_EMULATED

    @property
    def representative(self) -> bool:
        """False where times are real but say nothing of a GPU."""
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
# Model names that NVIDIA has given so far, as boards spell them: a100-sxm4-80gb, rtx-4090, gh200-480gb, t4, titan-v.
# A board of any other model begins with the word nvidia, see ``board_of``.
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
_table = {it.name: it for it in (HOST, EMULATED_GPU, NVIDIA_GPU)}
DEVICE_KINDS = MappingProxyType(_table)


def find_kind(board: str) -> DeviceKind | None:
    """The kind that ``board`` belongs to; None for a name of no kind, which an old record may hold."""
    return next((it for it in DEVICE_KINDS.values() if it.has(board)), None)


def kind_of(board: str) -> DeviceKind:
    """As ``find_kind``. Raises UnknownDevice."""
    if (found := find_kind(board)) is None:
        kinds = ", ".join(f"{it.title} ({it.only_board or 'by its model'})" for it in DEVICE_KINDS.values())
        raise UnknownDevice(f"'{board}' is the name of no known device.", f"Kinds of device: {kinds}.")
    return found


def resolve_back_end(kind: DeviceKind) -> Any:
    """What makes the kind's ``Device``, called with a board's name and a device's number. Imports torch."""
    return resolve_name(kind.back_end)


def board_of(gpu: Gpu) -> str:
    """The board of a GPU that was found, by its model; it always belongs to the GPU's kind."""
    name = board_name(gpu.name)
    kind = next(it for it in DEVICE_KINDS.values() if it.gpus is GPU_KINDS[gpu.kind])
    return name if find_kind(name) is kind else f"{kind.name}-{name}"


def caution_of(board: str) -> str:
    """Why times on ``board`` are not representative, as in "times on cpu ...". For callers that know that they are not,
    perhaps by another release: so there is an answer for any name."""
    kind = find_kind(board)
    return (kind.caution if kind is not None else "") or "say nothing of a GPU"


def resolution_of(board: str) -> float:
    """The share by which times on ``board`` must differ to be told apart; for a name of no kind, a measured GPU's."""
    return (find_kind(board) or NVIDIA_GPU).resolution


def endless_seconds(board: str) -> float:
    """About how long an endless loop keeps a judge busy there: until a call's limit ends its box."""
    kind = find_kind(board) or NVIDIA_GPU
    if kind.on == ON_GPU:
        return limits.CASE_SECONDS
    return limits.CASE_CPU_SECONDS


def fixed_architectures() -> dict[str, str]:
    """Board -> what nvcc compiles for, of the boards where that is known without a device."""
    kinds = DEVICE_KINDS.values()
    return {it.only_board: it.architecture for it in kinds if it.only_board and it.architecture}


def serves(device: str, language: Language) -> bool:
    """Whether ``device`` runs it: where there is no GPU, what has an interpreter."""
    kind = find_kind(device)
    return kind is not None and language.runs_on(kind.on)


def default_board() -> str:
    """The board of a machine without a GPU: the emulated one, or the processor's where that is not built."""
    return EMULATED if is_built() else CPU


def home_board(language: Language) -> str:
    """The same for a language: one that serves it."""
    boards = (default_board(), CPU, EMULATED)
    return next((it for it in boards if serves(it, language)), CPU)


def languages_of(device: str) -> list[Language]:
    return [language for language in Language if serves(device, language)]


def compiled_ahead(device: str, language: Language) -> bool:
    """Whether what its kernels are compiled to there can be made elsewhere, before the device is free."""
    kind = find_kind(device)
    return language.kernels_ahead and kind is not None and kind.on == ON_GPU


def representative(device: str) -> bool:
    """False where times are real but say nothing of a GPU."""
    kind = find_kind(device)
    return kind is not None and kind.representative


def board_name(model: str) -> str:
    """What a board is called by the hardware's own name: "NVIDIA H200" is ``h200``, "Tesla T4" is ``t4``."""
    words = re.sub(r"(?i)nvidia|tesla|geforce|quadro|\(.*?\)", " ", model).split()
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-") or "gpu"
