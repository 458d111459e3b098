"""What judging needs of a device: a protocol for each use, and how many rounds a device gets.

Each kind of device has one back end (``grader.device_kinds``): in ``host_device`` for the processor, in ``cuda`` for
GPUs.
"""

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
    #: Always made.
    rounds: int = 15
    #: Made while the time is not known to ``enough`` (a share of it) and ``seconds`` are not over.
    most_rounds: int = 15
    enough: float = 0.001
    control_rounds: int = 7
    #: Rounds ahead of those that count.
    warm_up: int = 2
    seconds: float = 6.0
    #: Limits of the ``rounds`` together, for one workload: seconds in calls, and seconds that the judge waits between.
    call_seconds: float = 300.0
    between_seconds: float = 20.0
    #: Rounds from before the device was warm do not count, see ``grader.judge.timing.drifted``.
    settles: bool = False


# Most kernels' rounds differ by 0.1 %, a few by 0.6 %. Gradings differ by 0.06 % from box to box with 12 rounds as with
# 30. Round one after warm-up takes as long as the eighth, so one warm-up round is enough.
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
# Other programs use the host too: more rounds make up for it. The fewest take minutes for the slowest kernels that the
# call limit allows.
HOST_PLAN = TimingPlan(rounds=7, most_rounds=400, enough=0.05, control_rounds=15, seconds=3.0)


@dataclass(frozen=True)
class Floor:
    """A difference that means nothing: ``share`` of the usual value, and at least ``least`` seconds."""

    share: float
    least: float


@dataclass(frozen=True)
class Noise:
    """How far a submission's times around the gate may exceed the control's without meaning anything.

    Uneven rounds raise it, by at most ``most`` of the measured time: a submission can provoke them, e.g. by heating the
    GPU.
    """

    before: Floor
    after: Floor
    most: float
    #: Seconds. A control whose rounds differ by more shared the device with something else.
    disturbed: float


class OutputChecker(Protocol):
    """Compares all outputs of a timed call: ``aim`` before the round, ``spot_check`` and ``full_check`` within its
    window, the rest after it."""

    def aim(self, question: Question) -> None:
        """Prepare to compare outputs with this question's answers."""

    def spot_check(self) -> None:
        """Compare some elements, drawn from all over the outputs, at once: whatever is right by then was ready."""

    def full_check(self) -> None:
        """Takes as long for a wrong answer as for a right one, so a control, which computes nothing, calibrates it.
        On a GPU it only enqueues."""

    def suspicious(self) -> bool: ...

    def explain(self, question: Question) -> Mismatch | None: ...

    def forbidden_write(self, question: Question, *, inputs: bool = True) -> Mismatch | None:
        """After the window: a write around a buffer or, with ``inputs``, into an input."""


class DeviceRecord(Protocol):
    """The state of a device around the rounds of one workload."""

    def round_counts(self) -> bool:
        """Read once after each round, outside the timed window. False if that round must be repeated."""

    def warmed(self, rounds: int) -> bool:
        """True if warming over the last ``rounds`` rounds invalidates earlier ones."""

    def state(self) -> GpuState | None: ...


class MemoryPlan(Protocol):
    """What fits into a device's memory that others use too."""

    def shortage(self, challenge: Challenge, workload: Workload) -> str:
        """Why there isn't enough memory to time a workload; "" if there is."""

    def case_shortage(self, challenge: Challenge, case: Case) -> str:
        """The same for a case that is for GPUs alone. Asked before anything of a judgement is in memory."""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        """True if the workload surely fits as soon as nothing but a judge uses the device's memory."""

    def has_room(self, challenge: Challenge, case: Case) -> bool: ...

    def make_room(self) -> None: ...

    def lacked_memory(self, error: Exception) -> bool:
        """True if ``error``, raised in the judge itself, means that the device ran out of memory."""

    def free_bytes(self) -> int: ...

    def may_keep(self, kept: int) -> bool:
        """True if a submission that held ``kept`` bytes still left the judge as much as it plans with."""


class Staging(Protocol):
    """Fixed memory for a workload's questions: then a question drawn long ago is as good as a new one."""

    def room(self, role: str, like: torch.Tensor) -> torch.Tensor:
        """Memory for ``role``: answers computed there need not be copied."""

    def stage(self, question: Question) -> Question:
        """A copy of the question in that memory; the one before it is lost."""


class Stream(Protocol):
    def settle(self) -> None: ...

    def before_round(self) -> None:
        """Finish all work and bring the device into the same state for everyone; then the call is queued."""

    def after_queued(self) -> None:
        """Undo what the host part of a call may have prepared, before the round's inputs are revealed."""


class Hardware(Protocol):
    @property
    def name(self) -> str:
        """Names its board: "cpu", "h200"."""

    @property
    def model(self) -> str: ...

    @property
    def on(self) -> str: ...

    @property
    def architecture(self) -> str: ...

    @property
    def on_processor(self) -> bool:
        """Calls run on the host's processor, so their limit is processor time."""

    @property
    def modelled(self) -> bool:
        """Times come from a model, see ``grader.judge.modelled``."""

    def languages(self) -> tuple[Language, ...]: ...


class BoxDevice(Hardware, Protocol):
    #: The folder of compiled Python that boxes with torch read, see ``grader.sandbox.bytecode``.
    bytecode: str

    @property
    def memory(self) -> str:
        """The word for its memory in a binding."""

    @property
    def stream(self) -> Stream | None: ...

    def with_gpus(self, spec: BoxSpec, count: int) -> BoxSpec:
        """The specification of a box that uses ``count`` GPUs. Raises BoxUnavailable if the device has fewer."""

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec: ...

    def make_gate(self) -> Gate: ...

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """Put a timed round's inputs where the runner sees them, and leave nothing of them in a cache."""


class ArrayDevice(Hardware, Protocol):
    @property
    def torch_device(self) -> str: ...

    @property
    def memories(self) -> MemoryMaker: ...

    @property
    def memory_plan(self) -> MemoryPlan | None:
        """None if everything fits: calls run in a box's memory, which has its own limit."""


class CaseDevice(ArrayDevice, Protocol):
    @property
    def passing_memories(self) -> MemoryMaker:
        """For a case for GPUs alone; nothing of it is kept."""

    @property
    def warm_up_cases(self) -> bool:
        """A case's first call compiles something, so an untimed one goes ahead of it."""


class RatedDevice(Hardware, Protocol):
    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        """Use these. With none, a device that can measure them does so when asked."""

    def ceilings(self) -> Mapping[str, float]:
        """``bandwidth`` in bytes/s and ``rate:DTYPE`` in flop/s; empty if none are known."""


class TimedDevice(ArrayDevice, RatedDevice, Protocol):
    @property
    def plan(self) -> TimingPlan: ...

    @property
    def noise(self) -> Noise: ...

    @property
    def confirms(self) -> bool:
        """Whatever is plainly charged for work outside the gate is measured once more before it counts."""

    @property
    def round_costs(self) -> RoundCosts | None:
        """What a round has cost here; None if that varies."""

    @property
    def baselines(self) -> tuple[str, ...]:
        """The modes in which ``reference.py`` is timed."""

    @property
    def staging(self) -> Staging | None:
        """None if questions stay where they were drawn."""

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None: ...

    def watch(self, arena: Arena) -> OutputChecker: ...

    def record(self) -> DeviceRecord | None:
        """None if the device's state is not recorded."""


class Device(BoxDevice, CaseDevice, TimedDevice, Protocol): ...


def make_device(name: str, *indices: int) -> Device:
    """The back end of the board ``name``, on devices ``indices`` of this machine (the first ones if left out).

    Raises UnknownDevice for a board of no kind, BoxUnavailable if the device cannot be used.
    """
    device: Device = resolve_back_end(kind_of(name))(name, *(indices or (0,)))
    return device
