"""What judging needs of a device: memory to share, a gate, and a check of a timed call's outputs.

One back end for each kind (``grader.device_kinds``): the host's, with Triton's interpreter, is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.draw import Room
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.device_kinds import (
    CPU,
    CPU_ARCHITECTURE,
    EMULATED,
    EMULATED_ARCHITECTURE,
    kind_of,
    resolve_back_end,
)
from grader.errors import BoxUnavailable
from grader.judge.arena import HOST, Arena, MemoryMaker
from grader.judge.compare import compare, differs, trespass
from grader.judge.environment import cpu_model
from grader.judge.gate import HostGate, Window
from grader.judge.oracle import Question
from grader.judge.round_costs import RoundCosts
from grader.languages import ON_EMULATED, ON_HOST, Language
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.emulator import BUILD, is_built
from grader.sandbox.emulator.model import H200, MODEL_VERSION
from grader.sandbox.processor import Share
from grader.schemas.hardware import GpuState
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

# The interpreter runs on the CPU; torch's own threads would fight the judge for the cores that it measures on.
_HOST_ENV = {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
_HOST_ENVS = {
    BoxPurpose.RUN: _HOST_ENV,
    BoxPurpose.CONTROL: {"GRADER_PRELOAD": ""},
    BoxPurpose.BASELINE: {**_HOST_ENV, "GRADER_PRELOAD": "torch"},
}
# What such a box may use of the processor is the judge's to count (see ``Remote``); this ends what it forgot.
_HOST_WALL_SECONDS = limits.BOX_WALL_PATIENCE * limits.BOX_WALL_SECONDS
_HOST_SPECS = {
    purpose: BoxSpec(purpose, env=env, share=Share.YIELDING, wall_seconds=_HOST_WALL_SECONDS)
    for purpose, env in _HOST_ENVS.items()
}


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
    """How many rounds: ``rounds``, and up to ``most_rounds`` while the time is not known to ``enough`` of itself and
    ``seconds`` are not over. ``rounds`` are always made, for one workload: ``call_seconds`` is how long all their calls
    together may take, ``between_seconds`` how long a submission may keep the judge waiting between them. ``settles``:
    rounds from before the device was as warm as the calls make it do not count, see ``grader.judge.timing.drifted``."""

    rounds: int = 15
    most_rounds: int = 15
    enough: float = 0.001
    control_rounds: int = 7
    warm_up: int = 2
    seconds: float = 6.0
    call_seconds: float = 300.0
    between_seconds: float = 20.0
    settles: bool = False


# On a GPU of any kind. Most kernels' rounds differ by 0.1 %, and the fewest are enough; those of a few differ by 0.6 %.
# Gradings of one kernel differ by as much with 12 rounds each as with 30: by 0.06 % from box to box, which no number of
# rounds makes less. The first that counts takes as long as the eighth, so one round warms up, behind a first call.
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
# On the host: others use it as well. Where that shows, more rounds make up for it, up to a time that nobody minds. The
# fewest take minutes for the slowest kernels that the limit of a call lets pass.
HOST_PLAN = TimingPlan(rounds=7, most_rounds=400, enough=0.05, control_rounds=15, seconds=3.0)


@dataclass(frozen=True)
class Floor:
    """A difference that means nothing: this ``share`` of what is usual, and at least these seconds."""

    share: float
    least: float


@dataclass(frozen=True)
class Noise:
    """What may lie ``before`` and ``after`` the gate beyond the control's without meaning anything. More where rounds
    or the control's halves differ by more; but no more for that than ``most``, a share of the time that is measured,
    because a submission can bring it about (by uneven rounds, by heating the GPU). ``disturbed``: the control's rounds
    differ by less than these seconds; one that is slower had company."""

    before: Floor
    after: Floor
    most: float
    disturbed: float


class OutputChecker(Protocol):
    """How a timed call's outputs are compared, all of them: ``aim`` before the round, ``full_check`` within its window,
    the rest after it."""

    def aim(self, question: Question) -> None:
        """Make ready to hold outputs against this question's answers."""

    def spot_check(self) -> None:
        """Compare some elements, drawn from all over the outputs, at once: what is right by then was ready."""

    def full_check(self) -> None:
        """Snapshot and compare. Both take as long for a wrong answer as for a right one, so that a control, which
        computes nothing, calibrates them. On a GPU they only enqueue."""

    def suspicious(self) -> bool:
        """Whether something may be wrong."""

    def explain(self, question: Question) -> Mismatch | None:
        """What is wrong with what was seen, or None where nothing is."""

    def trespass(self, question: Question, *, inputs: bool = True) -> Mismatch | None:
        """After the window: what the call wrote where nothing may be written, around a buffer or, with ``inputs``, into
        an input."""


class DeviceRecord(Protocol):
    """How the device was around the rounds of one workload."""

    def round_counts(self) -> bool:
        """Read once, after a round and outside of what is timed. False where that round must be repeated."""

    def warmed(self, rounds: int) -> bool:
        """Whether the device became so much warmer over its last ``rounds`` rounds that the earlier are no measure."""

    def state(self) -> GpuState | None:
        """What a report keeps of it."""


class NoDeviceRecord:
    """See ``DeviceRecord``: of a host nothing is recorded."""

    def round_counts(self) -> bool:
        return True

    def warmed(self, rounds: int) -> bool:
        return False

    def state(self) -> GpuState | None:
        return None


class HostOutputChecker:
    """See ``OutputChecker``."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._snapshot: dict[str, torch.Tensor] = {}
        self._question: Question | None = None
        self._differs = False

    def aim(self, question: Question) -> None:
        self._question = question

    def spot_check(self) -> None:
        """What is late shows in the time after "done", which the host's own clock takes and charges."""

    def full_check(self) -> None:
        assert self._question is not None
        self._snapshot = self._arena.snapshot()
        self._differs = differs(self._arena, self._snapshot, self._question)

    def suspicious(self) -> bool:
        return self._differs

    def explain(self, question: Question) -> Mismatch | None:
        return compare(self._arena, self._snapshot, question)

    def trespass(self, question: Question, *, inputs: bool = True) -> Mismatch | None:
        return trespass(self._arena, question)  # all of it: they are small here


class Device(Protocol):
    """``name`` keys boards ("cpu", "h200"), ``model`` is the hardware's own name, ``memory`` the word of a binding,
    ``on`` the kind of device as ``grader.languages`` has it.

    ``passing_memories``: for a case that is ``on`` a GPU alone; nothing of it is kept for the next use.
    ``warm_up_cases``: a case's first call compiles something, so an untimed one goes ahead of it.
    ``on_processor``: a call runs on the host's processor, so its limit is processor time.
    ``baselines``: names that ``reference.py`` is timed under. ``architecture``: what nvcc compiles for. ``confirms``:
    what is plainly charged for work outside the gate is measured once more before it counts. ``round_costs``: what a
    round has cost here, where that is always the same. ``modelled``: times are
    those of a model, see ``grader.judge.modelled``. ``bytecode``: what boxes with torch read, see
    ``grader.sandbox.bytecode``. ``stages``: ``stage``
    copies, so that a question that was drawn long ago is as good as a new one.
    """

    bytecode: str

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def memory(self) -> str: ...
    @property
    def on(self) -> str: ...
    @property
    def torch_device(self) -> str: ...
    @property
    def memories(self) -> MemoryMaker: ...
    @property
    def passing_memories(self) -> MemoryMaker: ...
    @property
    def plan(self) -> TimingPlan: ...
    @property
    def noise(self) -> Noise: ...
    @property
    def confirms(self) -> bool: ...
    @property
    def round_costs(self) -> RoundCosts | None: ...
    @property
    def stages(self) -> bool: ...
    @property
    def modelled(self) -> bool: ...
    @property
    def on_processor(self) -> bool: ...
    @property
    def baselines(self) -> tuple[str, ...]: ...
    @property
    def architecture(self) -> str: ...

    def languages(self) -> tuple[Language, ...]: ...

    def keep_in(self, folder: Path) -> None:
        """Know what was learnt of this device, and is kept in the data folder ``folder``; and keep more there."""

    def warm_up_cases(self, language: Language) -> bool: ...

    def make_gate(self) -> Gate: ...

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec: ...

    @property
    def room(self) -> Room | None:
        """Where ``stage`` has answers: those that are made there need not be copied. None where it copies nothing."""

    def stage(self, question: Question) -> Question:
        """The question where a workload's questions always lie; the one before it is lost."""

    def settle(self) -> None:
        """Wait for what was enqueued on the device."""

    def before_round(self) -> None:
        """Finish what is under way and bring the device to a like state for everyone; then the call is queued."""

    def after_queued(self) -> None:
        """Take back what the host part of a call may have prepared, before the round's inputs are revealed."""

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """Put a timed round's inputs where the runner sees them, and leave nothing of them in a cache."""

    def watch(self, arena: Arena) -> OutputChecker: ...

    def record(self) -> DeviceRecord: ...

    def fits(self, challenge: Challenge, workload: Workload) -> str:
        """Why a workload cannot be timed here (its memory), or nothing."""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        """Whether a workload that does not fit surely would if nothing but a judge used the device's memory."""

    def fits_case(self, challenge: Challenge, case: Case) -> str:
        """Why a case that is ``on`` a GPU alone cannot be asked here (its memory), or nothing. Asked before anything of
        a judgement is in memory."""

    def has_room(self, challenge: Challenge, case: Case) -> bool:
        """Whether there is memory for such a case now."""

    def make_room(self) -> None:
        """Hand back the memory that nothing uses now, so that a submission has it."""

    def lacked_memory(self, error: Exception) -> bool:
        """Whether ``error``, raised in the judge itself, says that the device had no memory left."""

    def free_bytes(self) -> int:
        """Of the device's memory, what nobody holds now."""

    def may_keep(self, kept: int) -> bool:
        """Whether a submission whose end has just given back so many bytes left the judge what the plan gives it."""

    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        """Take these instead of measuring; with none, measure when asked."""

    def ceilings(self) -> Mapping[str, float]:
        """Measured ceilings: ``bandwidth`` in bytes/s and ``rate:DTYPE`` in flop/s; empty where none are known."""


class HostDevice:
    """This machine's CPU. Times are real and say nothing of a GPU. See ``Device``."""

    bytecode = ""
    name = CPU
    memory = "host"
    on = ON_HOST
    torch_device = "cpu"
    memories: MemoryMaker = HOST
    passing_memories: MemoryMaker = HOST
    plan = HOST_PLAN
    # A shared CPU moves the end of a window by about a scheduler's tick, and by more when others are busy.
    noise = Noise(before=Floor(0.05, 0.5e-3), after=Floor(0.05, 0.5e-3), most=1.0, disturbed=math.inf)
    round_costs = None
    confirms = False  # on a host that others use, it would be so every other time
    stages = False
    modelled = False
    on_processor = True
    baselines = ("eager",)
    architecture = CPU_ARCHITECTURE

    @property
    def model(self) -> str:
        return cpu_model()

    def languages(self) -> tuple[Language, ...]:
        return tuple(it for it in Language if it.runs_on(self.on))

    def keep_in(self, folder: Path) -> None:
        """Nothing is learnt of a host."""

    def warm_up_cases(self, language: Language) -> bool:
        return False  # the interpreter compiles nothing

    def make_gate(self) -> Gate:
        return HostGate()

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec:
        spec = _HOST_SPECS[purpose]
        if purpose is not BoxPurpose.RUN:
            return spec
        env = {**spec.env, "GRADER_PRELOAD": language.preload_on(self.on)}
        read = self.bytecode if language.torch else ""
        return replace(spec, env=env, memory_bytes=memory_bytes, bytecode=read)

    room = None

    def stage(self, question: Question) -> Question:
        return question

    def settle(self) -> None:
        """Nothing is enqueued: what is asked of a host is done."""

    def before_round(self) -> None:
        """Nothing to burn: the host's clock speed is not ours to settle."""

    def after_queued(self) -> None:
        """Nothing: see ``reveal``."""

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """There is no cache to flush that the reveal does not fill for everyone alike."""
        arena.reveal(inputs)

    def watch(self, arena: Arena) -> OutputChecker:
        return HostOutputChecker(arena)

    def record(self) -> DeviceRecord:
        return NoDeviceRecord()

    def fits(self, challenge: Challenge, workload: Workload) -> str:
        return ""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        return True

    def fits_case(self, challenge: Challenge, case: Case) -> str:
        return ""

    def has_room(self, challenge: Challenge, case: Case) -> bool:
        return True

    def make_room(self) -> None:
        """What the host keeps is small."""

    def lacked_memory(self, error: Exception) -> bool:
        return False  # a box has a limit of its own

    def free_bytes(self) -> int:
        return 0

    def may_keep(self, kept: int) -> bool:
        return True

    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        """A host has none."""

    def ceilings(self) -> Mapping[str, float]:
        return {}


def host_device(name: str, index: int) -> HostDevice:
    """There is one, whatever its number."""
    return HostDevice()


class EmulatedDevice(HostDevice):
    """The emulated GPU, which runs on the processor in a submission's box. Its buffers are the host's memory; its
    kernels reach them by addresses of its own. See ``grader.sandbox.emulator``."""

    name = EMULATED
    memory = "emulated"
    on = ON_EMULATED
    modelled = True
    architecture = EMULATED_ARCHITECTURE

    @property
    def model(self) -> str:
        return f"emulated {H200.name}, model {MODEL_VERSION}"


def emulated_device(name: str, index: int) -> EmulatedDevice:
    """There is one, whatever its number. Raises BoxUnavailable where it is not built."""
    if not is_built():
        raise BoxUnavailable(
            "the emulated GPU is not built here", f"{BUILD} Or judge Triton on the board cpu."
        )
    return EmulatedDevice()


def make_device(name: str, index: int | None = None) -> Device:
    """The back end of the board ``name``, on device number ``index`` of this machine.

    Raises UnknownDevice for a board of no kind, BoxUnavailable where the device cannot be used.
    """
    device: Device = resolve_back_end(kind_of(name))(name, index or 0)
    return device
