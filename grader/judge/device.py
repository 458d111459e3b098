"""What judging needs of a device: a protocol for each use. Back ends: ``host_device``, ``cuda``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.device_kinds import (
    kind_of,
    resolve_back_end,
)
from grader.judge.arena import Arena, MemoryMaker
from grader.judge.gate import Window
from grader.judge.oracle import Question
from grader.judge.round_costs import RoundCosts
from grader.languages import Language
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.schemas.hardware import GpuState
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch


class Gate(Protocol):
    """See ``grader.judge.gate``."""

    descriptor: int
    round: int

    def next_round(self) -> int: ...
    def open(self) -> float: ...
    def open_behind(
        self, reveal: Callable[[], None], spot_check: Callable[[], None], full_check: Callable[[], None]
    ) -> float: ...
    def check_now(self) -> Window: ...
    def give_up(self) -> bool: ...
    def is_done(self) -> bool: ...
    def spin_until_done(self, deadline: float, gone: Callable[[], bool]) -> bool: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class TimingPlan:
    rounds: int = 15
    #: Rounds go on until the relative error is below ``enough`` or ``seconds`` are over.
    most_rounds: int = 15
    enough: float = 0.001
    control_rounds: int = 7
    #: Rounds that do not count.
    warm_up: int = 2
    seconds: float = 6.0
    #: Limits of one workload's ``rounds``: seconds in calls, and of waiting between.
    call_seconds: float = 300.0
    between_seconds: float = 20.0
    #: Rounds of a cold device do not count, see ``grader.judge.timing.drifted``.
    settles: bool = False


# Most kernels' rounds differ by 0.1 %, a few by 0.6 %. Gradings differ by 0.06 % between boxes, with 12 rounds as with
# 30. The first round after warm-up takes as long as the eighth.
GPU_PLAN = TimingPlan(
    rounds=12,
    most_rounds=240,
    enough=0.001,
    control_rounds=8,
    warm_up=1,
    seconds=20.0,
    call_seconds=20.0,
    settles=True,
)
# Other programs use the host too. ``rounds`` take minutes for the slowest allowed kernels.
HOST_PLAN = TimingPlan(rounds=7, most_rounds=400, enough=0.05, control_rounds=15, seconds=3.0)


@dataclass(frozen=True)
class Floor:
    """A negligible difference: ``share`` of the usual value, at least ``least`` seconds."""

    share: float
    least: float


@dataclass(frozen=True)
class Noise:
    """How far times around the gate may exceed the control's.

    Uneven rounds raise it, by at most ``most`` of the time: a submission can provoke them, e.g. by heating the GPU.
    """

    before: Floor
    after: Floor
    most: float
    #: Seconds. If a control's rounds differ by more, something shared the device.
    disturbed: float


class OutputChecker(Protocol):
    """Call ``aim`` before the round, ``spot_check`` and ``full_check`` in its window, the rest after it."""

    def aim(self, question: Question) -> None:
        """Prepare for this question's answers."""

    def spot_check(self) -> None:
        """Compare random elements, which must be ready by now."""

    def full_check(self) -> None:
        """Takes equally long for wrong and right answers, so a control calibrates it. On a GPU it only enqueues."""

    def suspicious(self) -> bool: ...

    def explain(self, question: Question) -> Mismatch | None: ...

    def forbidden_write(self, question: Question, *, inputs: bool = True) -> Mismatch | None:
        """A write around a buffer or, with ``inputs``, into an input."""


class DeviceRecord(Protocol):
    def round_counts(self) -> bool:
        """Called outside the window. False: repeat the round."""

    def warmed(self, rounds: int) -> bool:
        """True if the device warmed too much over the last ``rounds`` rounds."""

    def state(self) -> GpuState | None: ...


class MemoryPlan(Protocol):
    def shortage(self, challenge: Challenge, workload: Workload) -> str:
        """Empty if it fits."""

    def case_shortage(self, challenge: Challenge, case: Case) -> str:
        """For a GPU-only case, asked before judging."""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        """True if it fits when only a judge uses the device."""

    def has_room(self, challenge: Challenge, case: Case) -> bool: ...

    def make_room(self) -> None: ...

    def lacked_memory(self, error: Exception) -> bool:
        """True if the judge's device memory ran out."""

    def free_bytes(self) -> int: ...

    def may_keep(self, kept: int) -> bool:
        """True if a submission's ``kept`` bytes left the judge its planned memory."""


class Staging(Protocol):
    """Fixed memory: a question drawn long ago is as good as a new one."""

    def room(self, role: str, like: torch.Tensor) -> torch.Tensor:
        """Answers computed there need no copy."""

    def stage(self, question: Question) -> Question:
        """The previous question is lost."""


class Stream(Protocol):
    def settle(self) -> None: ...

    def before_round(self) -> None:
        """Finish all work and fix the device's state, before the call is queued."""

    def after_queued(self) -> None:
        """Undo what the call's host part may have prepared, before the reveal."""


class Hardware(Protocol):
    @property
    def name(self) -> str:
        """Its board: "cpu", "h200"."""

    @property
    def model(self) -> str: ...

    @property
    def on(self) -> str: ...

    @property
    def architecture(self) -> str: ...

    @property
    def on_processor(self) -> bool:
        """Limits are in processor time."""

    @property
    def modelled(self) -> bool:
        """Times come from a model, see ``grader.judge.modelled``."""

    def languages(self) -> tuple[Language, ...]: ...


class BoxDevice(Hardware, Protocol):
    #: See ``grader.sandbox.bytecode``.
    bytecode: str

    @property
    def memory(self) -> str:
        """Its name in a binding."""

    @property
    def stream(self) -> Stream | None: ...

    def with_gpus(self, spec: BoxSpec, count: int) -> BoxSpec:
        """Raises BoxUnavailable if the device has fewer GPUs."""

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec: ...

    def make_gate(self) -> Gate: ...

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """Show inputs to the runner, and leave none in a cache."""


class ArrayDevice(Hardware, Protocol):
    @property
    def torch_device(self) -> str: ...

    @property
    def memories(self) -> MemoryMaker: ...

    @property
    def memory_plan(self) -> MemoryPlan | None:
        """None if everything fits."""


class CaseDevice(ArrayDevice, Protocol):
    @property
    def passing_memories(self) -> MemoryMaker:
        """For GPU-only cases; not kept."""

    @property
    def warm_up_cases(self) -> bool:
        """Each case needs an untimed call, because the first one compiles."""


class RatedDevice(Hardware, Protocol):
    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        """If empty, it may measure ceilings."""

    def ceilings(self) -> Mapping[str, float]:
        """``bandwidth`` in bytes/s and ``rate:DTYPE`` in flop/s; empty if unknown."""


class TimedDevice(ArrayDevice, RatedDevice, Protocol):
    @property
    def plan(self) -> TimingPlan: ...

    @property
    def noise(self) -> Noise: ...

    @property
    def confirms(self) -> bool:
        """Measure again before charging for work outside the gate."""

    @property
    def round_costs(self) -> RoundCosts | None:
        """None if costs vary."""

    @property
    def baselines(self) -> tuple[str, ...]:
        """Modes of ``reference.py``."""

    @property
    def staging(self) -> Staging | None:
        """None: questions stay in place."""

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None: ...

    def watch(self, arena: Arena) -> OutputChecker: ...

    def record(self) -> DeviceRecord | None:
        """None if its state is not recorded."""


class Device(BoxDevice, CaseDevice, TimedDevice, Protocol): ...


def make_device(name: str, *indices: int) -> Device:
    """On devices ``indices``, default: the first. Raises UnknownDevice, or BoxUnavailable if it cannot be used."""
    device: Device = resolve_back_end(kind_of(name))(name, *(indices or (0,)))
    return device
