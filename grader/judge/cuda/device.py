"""One NVIDIA GPU as the judge uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from grader import limits
from grader.device_kinds import gpus_of
from grader.errors import BoxUnavailable
from grader.judge.arena import Arena
from grader.judge.cuda import kernels, nvml
from grader.judge.cuda.ceilings import measure_ceilings
from grader.judge.cuda.driver import NEEDS_MEND, DriverError, api, can_reach, check, lacking
from grader.judge.cuda.gate import CudaGate
from grader.judge.cuda.memory import SEVERAL_MEND, CudaMemories, Staging
from grader.judge.cuda.memory_plan import CudaMemoryPlan
from grader.judge.cuda.output_checker import CudaOutputChecker
from grader.judge.device import GPU_PLAN, Device, Floor, Gate, Noise, OutputChecker
from grader.judge.kept_control import WALL_SECONDS
from grader.judge.round_costs import Machine, RoundCosts
from grader.languages import ON_GPU, Language
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.gpu import Gpu, nvidia_driver, nvidia_gpus, together


class CudaStream:
    """``others``: a submission's other GPUs."""

    def __init__(self, burn: kernels.Burn, others: Mapping[int, kernels.Burn]) -> None:
        self._burn, self._others = burn, others

    def settle(self) -> None:
        torch.cuda.synchronize()
        for other in self._others:
            torch.cuda.synchronize(other)

    def before_round(self) -> None:
        """Settle the clocks, and reset what a submission made persist in the L2 cache."""
        self._let_go_of_cache()
        self._burn.run()
        for other, burn in self._others.items():
            with torch.cuda.device(other):
                burn.run()
        self.settle()

    def after_queued(self) -> None:
        """The call's host part may have made lines persist."""
        self._let_go_of_cache()

    def _let_go_of_cache(self) -> None:
        with suppress(DriverError):
            check(api().cuCtxResetPersistingL2Cache())
        for other in self._others:
            with torch.cuda.device(other), suppress(DriverError):
                check(api().cuCtxResetPersistingL2Cache())


class CudaDevice:
    """GPU ``index`` (the driver's number). ``others``: the board's other GPUs, default: the next. Raises
    BoxUnavailable if one lacks what the gate needs."""

    bytecode = ""
    memory = "cuda"
    on = ON_GPU
    torch_device = "cuda"
    plan = GPU_PLAN
    # From benchmarks/gpu/repeatability.py on an H200: honest kernels are within 1 us of the control before the gate,
    # and within 20 us behind it, where nobody gains time.
    noise = Noise(before=Floor(0.002, 2.5e-6), after=Floor(0.04, 20e-6), most=0.005, disturbed=30e-6)
    confirms = True
    warm_up_cases = (
        True  # Triton compiles for new sizes, CUDA allocates lazily: both block behind a closed gate
    )
    modelled = False
    on_processor = False
    baselines = ("eager", "compile")

    def __init__(self, name: str, index: int, *others: int) -> None:
        self.name = name
        self._stored: Mapping[str, float] = {}
        if not torch.cuda.is_available():
            raise BoxUnavailable(
                "torch finds no NVIDIA GPU", "Is the driver installed? `grader doctor` says more."
            )
        gpus = nvidia_gpus()
        count = gpus_of(name) or 1
        wanted = (index, *others) if others else tuple(range(index, index + count))
        places = {gpu.index: place for place, gpu in enumerate(gpus)}
        if hidden := [gpu for gpu in wanted if gpu not in places]:
            raise BoxUnavailable(
                f"NVIDIA GPU {hidden[0]} is not visible here", "Does CUDA_VISIBLE_DEVICES name it?"
            )
        number, *more = (places[gpu] for gpu in wanted)
        torch.cuda.set_device(number)
        for each, place in zip(wanted, (number, *more), strict=True):
            if missing := lacking(place):
                raise BoxUnavailable(f"GPU {each} lacks {', '.join(missing)}", NEEDS_MEND)
        for other in more:
            if not (can_reach(number, other) and can_reach(other, number)):
                raise BoxUnavailable(
                    f"GPUs {index} and {gpus[other].index} cannot reach each other's memory",
                    "Choose two with NVLink or PCIe peer access: `nvidia-smi topo -p2p r` shows which.",
                )
        self._gpu: Gpu = gpus[number]
        self._together = together([self._gpu, *(gpus[other] for other in more)])
        self._monitors = [nvml.Monitor(gpu.uuid) for gpu in self._together.every]
        model = torch.cuda.get_device_name(number)
        self.model = f"{count} x {model}" if count > 1 else model
        self.memories = CudaMemories(number, others=more)
        self.passing_memories = CudaMemories(number, kept_share=0.0)
        self.staging = Staging(self.memories.device)
        self.memory_plan = CudaMemoryPlan(self.memories, self.staging)
        properties = torch.cuda.get_device_properties(number)
        self._flush = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device="cuda")
        machine = self._gpu.uuid + (f"-x{count}" if count > 1 else "")
        self.round_costs = RoundCosts(Machine(machine, self.model, nvidia_driver()))
        programs = properties.multi_processor_count
        self._flushes = {
            other: torch.zeros(2 * properties.L2_cache_size, dtype=torch.uint8, device=other)
            for other in more
        }
        self.stream = CudaStream(
            kernels.Burn(self.memories.device, programs=programs),
            {other: kernels.Burn(torch.device("cuda", other), programs=programs) for other in more},
        )

    @property
    def architecture(self) -> str:
        major, minor = torch.cuda.get_device_capability()
        # Special instructions need Hopper's and Blackwell's "a" variant.
        return f"sm_{major}{minor}" + ("a" if major >= 9 else "")

    def languages(self) -> tuple[Language, ...]:
        return tuple(language for language in Language if language.runs_on(self.on))

    def make_gate(self) -> Gate:
        return CudaGate(tuple(self._flushes))

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec:
        preload = {BoxPurpose.CONTROL: "cuda", BoxPurpose.BASELINE: "torch-gpu"}.get(purpose)
        if preload is None:
            preload = language.preload_on(self.on)
        # A library must load kernels before its first call, which might wait forever behind a closed gate. torch's take
        # seconds, so a warm-up loads those that a call needs.
        loading = "EAGER" if preload == "cuda" else "LAZY"
        env = {"GRADER_PRELOAD": preload, "CUDA_MODULE_LOADING": loading}
        if self._together.others:
            # The host has few multicast groups: no box may use them up.
            env["NCCL_NVLS_ENABLE"] = "0"
        compiles = purpose is BoxPurpose.RUN and language.python
        seconds = limits.BOX_WALL_SECONDS + (limits.KERNELS_OF_SUBMISSION_SECONDS if compiles else 0.0)
        return BoxSpec(
            purpose,
            env=env,
            memory_bytes=limits.GPU_BOX_MEMORY_BYTES,
            # A control outlives the submission's boxes.
            wall_seconds=WALL_SECONDS if purpose is BoxPurpose.CONTROL else seconds,
            gpu=self._together,
            bytecode=self.bytecode if preload != "cuda" else "",
        )

    def with_gpus(self, spec: BoxSpec, count: int) -> BoxSpec:
        gpus = self._together.every
        if count > len(gpus):
            raise BoxUnavailable(
                f"The challenge needs {count} GPUs, and this judge has {len(gpus)}.", SEVERAL_MEND
            )
        return replace(spec, gpu=together(gpus[:count]))

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """Flush the L2 cache afterwards: a kernel would gain from the end of the reveal."""
        arena.reveal(inputs)
        self._flush.zero_()
        stream = torch.cuda.current_stream()
        for other, flush in self._flushes.items():
            # After this GPU's writes there. The gate waits for all.
            torch.cuda.current_stream(other).wait_stream(stream)
            flush.zero_()

    def watch(self, arena: Arena) -> OutputChecker:
        return CudaOutputChecker(arena, self.staging)

    def record(self) -> nvml.NvmlRecord:
        first, *others = (nvml.NvmlRecord(monitor) for monitor in self._monitors)
        return nvml.NvmlRecords(first.monitor, others=others) if others else first

    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        self._stored = stored

    def ceilings(self) -> Mapping[str, float]:
        return self._stored or measure_ceilings(torch.cuda.current_device())


if TYPE_CHECKING:
    # Nothing else checks that this is a whole ``Device``.
    _checked: Callable[..., Device] = CudaDevice
