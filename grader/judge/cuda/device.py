"""One NVIDIA GPU as the judge uses it. See ``grader.judge.device.Device``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import torch

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.draw import Room, input_role
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.errors import BoxUnavailable
from grader.judge.arena import Arena
from grader.judge.cuda import kernels, nvml
from grader.judge.cuda.ceilings import measure_ceilings
from grader.judge.cuda.driver import NEEDS_MEND, DriverError, api, check, lacking
from grader.judge.cuda.gate import CudaGate
from grader.judge.cuda.memory import KEPT_SHARE, CudaMemories, Staging
from grader.judge.cuda.output_checker import CudaOutputChecker
from grader.judge.cuda.plan import case_bytes, kept_bytes, workload_bytes
from grader.judge.device import GPU_PLAN, Floor, Gate, Noise, OutputChecker
from grader.judge.kept_control import WALL_SECONDS
from grader.judge.oracle import Question
from grader.judge.round_costs import Machine, RoundCosts
from grader.languages import ON_GPU, Language
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.gpu import Gpu, nvidia_driver, nvidia_gpus

# Share of free device memory that one workload may plan with; the rest is for the submission's own temporaries.
PLANNED_SHARE = 0.8
# What the contexts of a judge, its control and spare boxes may take beside it, and a display, on the safe side: what
# needs more than the rest is taken for too large for this model.
TAKEN_BYTES = 4 * limits.GIB


class CudaDevice:
    """GPU ``index``, by the driver's number, judged for the board ``name``. Raises BoxUnavailable where it lacks what
    the gate needs."""

    bytecode = ""
    memory = "cuda"
    on = ON_GPU
    torch_device = "cuda"
    plan = GPU_PLAN
    # Measured on an H200 (benchmarks/gpu/repeatability.py prints it): honest kernels lie within 1 us of the control's
    # before the gate and, at arrays of exactly 2^28 elements, within 20 us behind it, where no time is won any more.
    noise = Noise(before=Floor(0.002, 2.5e-6), after=Floor(0.04, 20e-6), most=0.005, disturbed=30e-6)
    confirms = True
    stages = True
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
        number = next((place for place, it in enumerate(gpus) if it.index == index), None)
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
        self._memories = CudaMemories(number)
        self.passing_memories = CudaMemories(number, kept_share=0.0)
        self._staging = Staging(self._memories.device)
        properties = torch.cuda.get_device_properties(number)
        self._flush = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device="cuda")
        self.round_costs = RoundCosts()
        self._burn = kernels.Burn(self._memories.device, programs=properties.multi_processor_count)

    @property
    def memories(self) -> CudaMemories:
        return self._memories

    @property
    def architecture(self) -> str:
        major, minor = torch.cuda.get_device_capability()
        # Hopper's and Blackwell's own instructions are only in the architecture's "a" variant.
        return f"sm_{major}{minor}" + ("a" if major >= 9 else "")

    def languages(self) -> tuple[Language, ...]:
        return tuple(it for it in Language if it.runs_on(self.on))

    def keep_in(self, folder: Path) -> None:
        machine = Machine(self._gpu.uuid, self.model, nvidia_driver())
        self.round_costs = RoundCosts(machine, folder)

    def warm_up_cases(self, language: Language) -> bool:
        return True  # Triton compiles for new sizes, CUDA allocates lazily: both would block behind a closed gate

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

    @property
    def room(self) -> Room:
        return self._staging.room

    def stage(self, question: Question) -> Question:
        """See ``CudaMemories``: the place of tensors must not differ between a control and what is compared with it."""
        inputs = {name: self._staging.put(input_role(name), it) for name, it in question.inputs.items()}
        outputs = {name: self._staging.put(f"output {name}", it) for name, it in question.outputs.items()}
        scales = {name: self._staging.put(f"scale {name}", it) for name, it in question.magnitudes.items()}
        return Question(inputs, outputs, scales)

    def settle(self) -> None:
        torch.cuda.synchronize()

    def before_round(self) -> None:
        """Settle the clocks, and take back what a submission may have made to persist in the L2 cache."""
        self._let_go_of_cache()
        self._burn.run()
        torch.cuda.synchronize()

    def after_queued(self) -> None:
        """Once more: the host part of a call may have made lines persist."""
        self._let_go_of_cache()

    def _let_go_of_cache(self) -> None:
        with suppress(DriverError):
            check(api().cuCtxResetPersistingL2Cache())

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """Reveal, then flush the L2 cache. Also after a large reveal: its end stays in the cache, and a kernel that
        begins there would gain by it."""
        arena.reveal(inputs)
        self._flush.zero_()

    def watch(self, arena: Arena) -> OutputChecker:
        return CudaOutputChecker(arena, self._staging)

    def record(self) -> nvml.NvmlRecord:
        return nvml.NvmlRecord(self._monitor)

    def fits(self, challenge: Challenge, workload: Workload) -> str:
        lacking = self._lacks(workload_bytes(challenge, workload), 0)
        return f"Not timed at {_said(workload.sizes)}: {lacking}" if lacking else ""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        _, total = torch.cuda.mem_get_info()
        return workload_bytes(challenge, workload) <= (total - TAKEN_BYTES) * PLANNED_SHARE

    def fits_case(self, challenge: Challenge, case: Case) -> str:
        """Beside what the challenge's workloads keep in their place."""
        lacking = self._lacks(case_bytes(challenge, case), _kept(challenge))
        return f"Without case {case.name} at {_said(case.sizes)}: {lacking}" if lacking else ""

    def _lacks(self, needed: int, kept: int) -> str:
        """Why ``needed`` bytes cannot be planned with beside ``kept``, or nothing.

        What is kept stays where it is as long as there is room beside it, and where giving it back would not make room
        either: its place is worth up to 1 % of some kernels' time, so all gradings shall have the same.
        """
        free, _ = torch.cuda.mem_get_info()
        held = self._memories.kept_bytes + self._staging.kept_bytes
        available = free + held + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        if kept + needed <= available * PLANNED_SHARE:
            if needed <= free * PLANNED_SHARE - max(0, kept - held):
                return ""
            self._memories.give_back()
            self._staging.give_back()
            torch.cuda.empty_cache()
            available, _ = torch.cuda.mem_get_info()
        if kept + needed <= available * PLANNED_SHARE:
            return ""
        room = max(0.0, available - kept / PLANNED_SHARE)
        return f"judging it takes {needed / 2**30:.0f} GiB, and {room / 2**30:.0f} are free here."

    def has_room(self, challenge: Challenge, case: Case) -> bool:
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        return case_bytes(challenge, case) <= free * PLANNED_SHARE

    def make_room(self) -> None:
        """What is kept in its place stays."""
        torch.cuda.empty_cache()

    def lacked_memory(self, error: Exception) -> bool:
        if isinstance(error, DriverError):
            return error.name == "CUDA_ERROR_OUT_OF_MEMORY"
        return isinstance(error, torch.OutOfMemoryError)

    def free_bytes(self) -> int:
        free, _ = torch.cuda.mem_get_info()
        return int(free)

    def may_keep(self, kept: int) -> bool:
        return kept <= (1 - PLANNED_SHARE) * self.free_bytes()

    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        self._stored = stored

    def ceilings(self) -> Mapping[str, float]:
        return self._stored or measure_ceilings(torch.cuda.current_device())


def _said(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size:,}" for name, size in sizes.items())


def _kept(challenge: Challenge) -> int:
    """Bytes that stay where they are, as far as so much may be kept."""
    total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    return min(kept_bytes(challenge), int(2 * KEPT_SHARE * total))
