"""One NVIDIA GPU as the judge uses it. See ``grader.judge.device.Device``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import torch

from grader import limits
from grader.errors import BoxUnavailable
from grader.judge.arena import Arena
from grader.judge.cuda import kernels, nvml
from grader.judge.cuda.ceilings import measure_ceilings
from grader.judge.cuda.driver import NEEDS_MEND, DriverError, api, check, lacking
from grader.judge.cuda.gate import CudaGate
from grader.judge.cuda.memory import CudaMemories, Staging
from grader.judge.cuda.memory_plan import CudaMemoryPlan
from grader.judge.cuda.output_checker import CudaOutputChecker
from grader.judge.device import GPU_PLAN, Device, Floor, Gate, Noise, OutputChecker
from grader.judge.kept_control import WALL_SECONDS
from grader.judge.round_costs import Machine, RoundCosts
from grader.languages import ON_GPU, Language
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.gpu import Gpu, nvidia_driver, nvidia_gpus


class CudaStream:
    def __init__(self, burn: kernels.Burn) -> None:
        self._burn = burn

    def settle(self) -> None:
        torch.cuda.synchronize()

    def before_round(self) -> None:
        """Settle the clocks, and take back whatever a submission made persist in the L2 cache."""
        self._let_go_of_cache()
        self._burn.run()
        torch.cuda.synchronize()

    def after_queued(self) -> None:
        """Once more: the host part of a call may have made lines persist."""
        self._let_go_of_cache()

    def _let_go_of_cache(self) -> None:
        with suppress(DriverError):
            check(api().cuCtxResetPersistingL2Cache())


class CudaDevice:
    """GPU ``index``, by the driver's number, judged for the board ``name``. Raises BoxUnavailable if it lacks something
    that the gate needs."""

    bytecode = ""
    memory = "cuda"
    on = ON_GPU
    torch_device = "cuda"
    plan = GPU_PLAN
    # Measured on an H200 (benchmarks/gpu/repeatability.py prints it): honest kernels are within 1 us of the control
    # before the gate and, at arrays of exactly 2^28 elements, within 20 us behind it, where nobody gains time any more.
    noise = Noise(before=Floor(0.002, 2.5e-6), after=Floor(0.04, 20e-6), most=0.005, disturbed=30e-6)
    confirms = True
    warm_up_cases = (
        True  # Triton compiles for new sizes, CUDA allocates lazily: both would block behind a closed gate
    )
    modelled = False
    on_processor = False
    baselines = ("eager", "compile")

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self._stored: Mapping[str, float] = {}
        if not torch.cuda.is_available():
            raise BoxUnavailable(
                "torch finds no NVIDIA GPU", "Is the driver installed? `grader doctor` says more."
            )
        gpus = nvidia_gpus()
        number = next((place for place, gpu in enumerate(gpus) if gpu.index == index), None)
        if number is None:
            raise BoxUnavailable(
                f"NVIDIA GPU {index} is not visible here", "Does CUDA_VISIBLE_DEVICES name it?"
            )
        torch.cuda.set_device(number)
        if missing := lacking(number):
            raise BoxUnavailable(f"GPU {index} lacks {', '.join(missing)}", NEEDS_MEND)
        self._gpu: Gpu = gpus[number]
        self._monitor = nvml.Monitor(self._gpu.uuid)
        self.model = torch.cuda.get_device_name(number)
        self.memories = CudaMemories(number)
        self.passing_memories = CudaMemories(number, kept_share=0.0)
        self.staging = Staging(self.memories.device)
        self.memory_plan = CudaMemoryPlan(self.memories, self.staging)
        properties = torch.cuda.get_device_properties(number)
        self._flush = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device="cuda")
        self.round_costs = RoundCosts(Machine(self._gpu.uuid, self.model, nvidia_driver()))
        self.stream = CudaStream(
            kernels.Burn(self.memories.device, programs=properties.multi_processor_count)
        )

    @property
    def architecture(self) -> str:
        major, minor = torch.cuda.get_device_capability()
        # Hopper's and Blackwell's own instructions are only in the architecture's "a" variant.
        return f"sm_{major}{minor}" + ("a" if major >= 9 else "")

    def languages(self) -> tuple[Language, ...]:
        return tuple(language for language in Language if language.runs_on(self.on))

    def make_gate(self) -> Gate:
        return CudaGate()

    def box_spec(self, purpose: BoxPurpose, language: Language, memory_bytes: int) -> BoxSpec:
        preload = {BoxPurpose.CONTROL: "cuda", BoxPurpose.BASELINE: "torch-gpu"}.get(purpose)
        if preload is None:
            preload = language.preload_on(self.on)
        # A library's kernels are loaded before its first call: behind a closed gate that might wait for ever. With
        # torch it would be torch's own thousands, for seconds; what of them a call takes, its warm-up loads.
        loading = "EAGER" if preload == "cuda" else "LAZY"
        env = {"GRADER_PRELOAD": preload, "CUDA_MODULE_LOADING": loading}
        compiles = purpose is BoxPurpose.RUN and language.kernels_ahead
        seconds = limits.BOX_WALL_SECONDS + (limits.KERNELS_OF_SUBMISSION_SECONDS if compiles else 0.0)
        return BoxSpec(
            purpose,
            env=env,
            memory_bytes=limits.GPU_BOX_MEMORY_BYTES,
            # A control waits while a submission is judged, whose boxes begin to live after it.
            wall_seconds=WALL_SECONDS if purpose is BoxPurpose.CONTROL else seconds,
            gpu=self._gpu,
            bytecode=self.bytecode if preload != "cuda" else "",
        )

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """Reveal, then flush the L2 cache. Also after a large reveal: its end stays in the cache, and a kernel that
        begins there would gain by it."""
        arena.reveal(inputs)
        self._flush.zero_()

    def watch(self, arena: Arena) -> OutputChecker:
        return CudaOutputChecker(arena, self.staging)

    def record(self) -> nvml.NvmlRecord:
        return nvml.NvmlRecord(self._monitor)

    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        self._stored = stored

    def ceilings(self) -> Mapping[str, float]:
        return self._stored or measure_ceilings(torch.cuda.current_device())


if TYPE_CHECKING:
    # The back end is found by its name, so nothing else shows that it is a whole ``Device``.
    _checked: Callable[[str, int], Device] = CudaDevice
