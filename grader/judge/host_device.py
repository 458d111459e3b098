"""Devices on this machine's processor: Triton's interpreter (``cpu``), and the emulated GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.dtypes import DType
from grader.device_kinds import (
    CPU,
    CPU_ARCHITECTURE,
    EMULATED,
    EMULATED_ARCHITECTURE,
)
from grader.errors import BoxUnavailable
from grader.judge.arena import HOST, Arena, MemoryMaker
from grader.judge.compare import compare, differs, forbidden_write
from grader.judge.device import (
    HOST_PLAN,
    Device,
    DeviceRecord,
    Floor,
    Gate,
    MemoryPlan,
    Noise,
    OutputChecker,
    Staging,
    Stream,
)
from grader.judge.environment import cpu_model
from grader.judge.gate import HostGate
from grader.judge.oracle import Question
from grader.languages import ON_EMULATED, ON_HOST, Language
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.emulator import BUILD, is_built
from grader.sandbox.emulator.model import H200, MODEL_VERSION
from grader.sandbox.processor import Share
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

# torch's threads would take the cores that the judge measures on.
_HOST_ENV = {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
_HOST_ENVS = {
    BoxPurpose.RUN: _HOST_ENV,
    BoxPurpose.CONTROL: {"GRADER_PRELOAD": ""},
    BoxPurpose.BASELINE: {**_HOST_ENV, "GRADER_PRELOAD": "torch"},
}
# The judge counts processor time (see ``Remote``); this limit ends forgotten boxes.
_HOST_WALL_SECONDS = limits.BOX_WALL_PATIENCE * limits.BOX_WALL_SECONDS
_HOST_SPECS = {
    purpose: BoxSpec(purpose, env=env, share=Share.YIELDING, wall_seconds=_HOST_WALL_SECONDS)
    for purpose, env in _HOST_ENVS.items()
}


class HostOutputChecker:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._snapshot: dict[str, torch.Tensor] = {}
        self._question: Question | None = None
        self._differs = False

    def aim(self, question: Question) -> None:
        self._question = question

    def spot_check(self) -> None:
        """None: the host's clock charges for late writes."""

    def full_check(self) -> None:
        assert self._question is not None
        self._snapshot = self._arena.snapshot()
        self._differs = differs(self._arena, self._snapshot, self._question)

    def suspicious(self) -> bool:
        return self._differs

    def explain(self, question: Question) -> Mismatch | None:
        return compare(self._arena, self._snapshot, question)

    def forbidden_write(self, question: Question, *, inputs: bool = True) -> Mismatch | None:
        return forbidden_write(self._arena, question)  # all of it: arrays are small


class HostDevice:
    """This machine's CPU. Its times say nothing about a GPU."""

    bytecode = ""
    name = CPU
    memory = "host"
    on = ON_HOST
    torch_device = "cpu"
    memories: MemoryMaker = HOST
    passing_memories: MemoryMaker = HOST
    memory_plan: MemoryPlan | None = None
    plan = HOST_PLAN
    # A shared CPU moves a window's end by a scheduler's tick or more.
    noise = Noise(before=Floor(0.05, 0.5e-3), after=Floor(0.05, 0.5e-3), most=1.0, disturbed=math.inf)
    round_costs = None
    confirms = False  # every second measurement would need it
    staging: Staging | None = None
    stream: Stream | None = None
    warm_up_cases = False  # the interpreter compiles nothing
    modelled = False
    on_processor = True
    baselines: tuple[str, ...] = ("eager",)
    architecture = CPU_ARCHITECTURE
    _ceilings: Mapping[str, float] = MappingProxyType({})

    @property
    def model(self) -> str:
        return cpu_model()

    def languages(self) -> tuple[Language, ...]:
        return tuple(language for language in Language if language.runs_on(self.on))

    def make_gate(self) -> Gate:
        return HostGate()

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec:
        spec = _HOST_SPECS[purpose]
        if purpose is not BoxPurpose.RUN:
            return spec
        env = {**spec.env, "GRADER_PRELOAD": language.preload_on(self.on)}
        read = self.bytecode if language.torch else ""
        return replace(spec, env=env, memory_bytes=memory_bytes, bytecode=read)

    def with_gpus(self, spec: BoxSpec, count: int) -> BoxSpec:
        return spec

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """No flush: the reveal fills the cache alike for everyone."""
        arena.reveal(inputs)

    def watch(self, arena: Arena) -> OutputChecker:
        return HostOutputChecker(arena)

    def record(self) -> DeviceRecord | None:
        return None

    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        self._ceilings = stored

    def ceilings(self) -> Mapping[str, float]:
        return self._ceilings


def host_device(name: str, index: int) -> Device:
    return HostDevice()


class EmulatedDevice(HostDevice):
    """See ``grader.sandbox.emulator``."""

    name = EMULATED
    memory = "emulated"
    on = ON_EMULATED
    modelled = True
    architecture = EMULATED_ARCHITECTURE

    @property
    def model(self) -> str:
        return f"emulated {H200.name}, model {MODEL_VERSION}"

    def ceilings(self) -> Mapping[str, float]:
        return model_ceilings()


def model_ceilings() -> dict[str, float]:
    """``bandwidth`` in bytes/s, and ``rate:DTYPE`` in flop/s: no tensor cores for float32 and wider."""
    cycles = H200.multiprocessors * H200.clock
    flops = {
        DType.FLOAT64: H200.flops["f64"],
        DType.FLOAT32: 2 * 32 * H200.rates["float"],
        DType.FLOAT16: H200.flops["wgmma f16"],
        DType.BFLOAT16: H200.flops["wgmma bf16"],
        DType.INT8: H200.flops["wgmma s8"],
    }
    return {"bandwidth": H200.dram, **{f"rate:{dtype.value}": cycles * rate for dtype, rate in flops.items()}}


def emulated_device(name: str, index: int) -> Device:
    """Raises BoxUnavailable if it is not built."""
    if not is_built():
        raise BoxUnavailable(
            "the emulated GPU is not built here", f"{BUILD} Or judge Triton on the board cpu."
        )
    return EmulatedDevice()
