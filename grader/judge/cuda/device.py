"""One NVIDIA GPU as the judge uses it. See ``grader.judge.device.Device``."""

from __future__ import annotations

import functools
import math
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress

import torch

from grader import limits
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.errors import BoxUnavailable
from grader.judge.arena import Arena, Buffer
from grader.judge.compare import LATE, compare, counted, trespass
from grader.judge.cuda import kernels, nvml
from grader.judge.cuda.ceilings import measure_ceilings
from grader.judge.cuda.driver import NEEDS_MEND, DriverError, api, check, lacking
from grader.judge.cuda.gate import CudaGate
from grader.judge.cuda.memory import CudaMemories, Staging
from grader.judge.device import Floor, Gate, Noise, Plan, Watch
from grader.judge.oracle import Question
from grader.sandbox.box import BoxSpec, Purpose
from grader.sandbox.gpu import Gpu, find_gpus
from grader.schemas.report import Language, Mismatch

# A reveal that writes this many times the L2 cache has flushed it.
_FLUSHING_FACTOR = 8
# How many elements of an output a glance is at: of its like parts one each, so that two of them in a row, a
# thirty-thousandth of the work, cannot be late unseen. On an H200 that takes some 17 microseconds, for everybody alike.
_SPOTS = 1 << 16
# Share of free device memory that one workload may plan with; the rest is for the submission's own temporaries.
_PLANNED_SHARE = 0.8


class CudaDevice:
    """GPU number ``index``, judged for the board ``name``. Raises BoxUnavailable where it lacks what the gate needs."""

    memory = "cuda"
    torch_device = "cuda"
    plan = Plan(rounds=30, most_rounds=100, control_rounds=15, warm_up=3, seconds=20.0)
    # Measured on an H200 (benchmarks/gpu/repeatability.py prints it): honest kernels lie within 1 us of the control's
    # before the gate and, at arrays of exactly 2^28 elements, within 20 us behind it, where no time is won any more.
    noise = Noise(before=Floor(0.002, 2.5e-6), after=Floor(0.04, 20e-6), most=0.005, disturbed=30e-6)
    confirms = True
    stages = True
    baselines = ("eager", "compile")

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self._stored: Mapping[str, float] = {}
        if not torch.cuda.is_available():
            raise BoxUnavailable(
                "torch finds no NVIDIA GPU", "Is the driver installed? `grader doctor` says more."
            )
        torch.cuda.set_device(index)
        if missing := lacking(index):
            raise BoxUnavailable(f"GPU {index} lacks {', '.join(missing)}", NEEDS_MEND)
        self._gpu: Gpu = find_gpus()[index]
        self._monitor = nvml.Monitor(self._gpu.uuid)
        self.model = torch.cuda.get_device_name(index)
        self._memories = CudaMemories(index)
        self._staging = Staging(self._memories.device)
        properties = torch.cuda.get_device_properties(index)
        self._l2_bytes = properties.L2_cache_size
        self._flush = torch.empty(2 * self._l2_bytes, dtype=torch.uint8, device="cuda")
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
        return (Language.CUDA, Language.TRITON)

    def warm_up_cases(self, language: Language) -> bool:
        return True  # Triton compiles for new sizes, CUDA allocates lazily: both would block behind a closed gate

    def make_gate(self) -> Gate:
        return CudaGate()

    def box_spec(self, purpose: Purpose, language: Language, memory_bytes: int) -> BoxSpec:
        preload = {Purpose.CONTROL: "cuda", Purpose.BASELINE: "torch-gpu"}.get(purpose)
        if preload is None:
            preload = "cuda" if language is Language.CUDA else "triton-gpu"
        env = {"GRADER_PRELOAD": preload, "CUDA_MODULE_LOADING": "EAGER"}
        return BoxSpec(purpose, env=env, memory_bytes=limits.GPU_BOX_MEMORY_BYTES, gpu=self._gpu)

    def stage(self, question: Question) -> Question:
        """See ``CudaMemories``: where tensors lie must not differ between a control and what is held against it."""
        inputs = {name: self._staging.put(f"input {name}", it) for name, it in question.inputs.items()}
        outputs = {name: self._staging.put(f"output {name}", it) for name, it in question.outputs.items()}
        scales = {name: self._staging.put(f"scale {name}", it) for name, it in question.magnitudes.items()}
        return Question(inputs, outputs, scales)

    def before_round(self) -> None:
        """Settle the clocks, and take back what a submission may have made to persist in the L2 cache."""
        with suppress(DriverError):
            check(api().cuCtxResetPersistingL2Cache())
        self._burn.run()
        torch.cuda.synchronize()

    def reveal(self, arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        """Reveal, then flush the L2 cache, unless the reveal has itself written over it: each microsecond that the
        runner waits makes the fixed cost of a round larger and less even."""
        arena.reveal(inputs)
        written = sum(buffer.layout.nbytes for buffer in arena.buffers.values())
        if written < _FLUSHING_FACTOR * self._l2_bytes:
            self._flush.zero_()

    def watch(self, arena: Arena) -> Watch:
        return CudaWatch(arena, self._staging)

    def record(self) -> nvml.Record:
        return nvml.Record(self._monitor)

    def fits(self, challenge: Challenge, sizes: Mapping[str, int]) -> str:
        """Arena, private inputs and answers (drawn and staged) and the float64 oracle's copies must fit at once."""
        manifest = challenge.manifest
        needed = 0
        for arg in manifest.buffers:
            count = math.prod(manifest.shape(arg, sizes))
            copies = 3 if arg.kind is Kind.INPUT else 4
            needed += count * (copies * arg.dtype.itemsize + (24 if arg.dtype.floating else 16))
        self._memories.give_back()
        self._staging.give_back()
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        if needed <= free * _PLANNED_SHARE:
            return ""
        text = ", ".join(f"{name} = {size:,}" for name, size in sizes.items())
        return f"Not timed at {text}: judging it takes {needed / 2**30:.0f} GiB, and {free / 2**30:.0f} are free here."

    def use_ceilings(self, stored: Mapping[str, float]) -> None:
        self._stored = stored

    def ceilings(self) -> Mapping[str, float]:
        return self._stored or measure_ceilings(torch.cuda.current_device())


class CudaWatch:
    """See ``Watch``. ``glance`` and ``look`` are one pass of a kernel of ours, which copies what it sees too; what it
    suspects is compared once more, exactly, on that copy, when the window has closed."""

    def __init__(self, arena: Arena, staging: Staging) -> None:
        self._arena = arena
        self._results = arena.of_kind(Kind.INOUT, Kind.OUTPUT)
        self._snapshots = {
            it.argument.name: staging.room(f"snapshot {it.argument.name}", it.values).view(it.shape)
            for it in self._results
        }
        self._spots = {it.argument.name: Spots(it, self._snapshots[it.argument.name]) for it in self._results}
        blocks = [
            kernels.look_blocks(count, at_spots=spots)
            for it in self._results
            for count, spots in ((self._spots[it.argument.name].count, True), (it.count, False))
        ]
        # Written anew each time, by every block: one more atomic addition a wrong block would be time.
        self._suspects = torch.zeros(sum(blocks), dtype=torch.int32, device="cuda")
        self._shares = torch.split(self._suspects, blocks)
        self._forbidden = Forbidden(arena)
        self._glances: list[Callable[[], None]] = []
        self._looks: list[Callable[[], None]] = []

    def aim(self, question: Question) -> None:
        self._glances, self._looks = [], []
        shares = iter(self._shares)
        for buffer in self._results:
            name = buffer.argument.name
            spots = self._spots[name]
            spots.draw()
            aimed = self._aimed(buffer, question)
            self._glances.append(
                functools.partial(aimed, snapshot=spots.taken, suspects=next(shares), spots=spots.places)
            )
            self._looks.append(
                functools.partial(aimed, snapshot=self._snapshots[name].view(-1), suspects=next(shares))
            )

    def glance(self) -> None:
        glances, self._glances = self._glances, []  # kept no longer: answers are large
        for glance in glances:
            glance()

    def look(self) -> None:
        looks, self._looks = self._looks, []
        for look in looks:
            look()

    def suspicious(self) -> bool:
        return bool(self._suspects.any().item()) if self._suspects.numel() else False

    def _aimed(self, buffer: Buffer, question: Question) -> Callable[..., None]:
        manifest, argument = self._arena.manifest, buffer.argument
        want = question.outputs[argument.name].reshape(-1)
        scale = question.magnitudes.get(argument.name)
        poisoned = argument.kind is Kind.OUTPUT and argument.dtype.floating
        return functools.partial(
            kernels.look,
            buffer.values,
            counted(manifest, argument, question, want.numel()),
            want,
            scale.reshape(-1) if scale is not None else None,
            tolerance=(manifest.tolerance.atol, manifest.tolerance.rtol),
            poison=buffer.poison_value if poisoned else None,
        )

    def explain(self, question: Question) -> Mismatch | None:
        """What the look saw; and where that is right, what the glance had seen before it."""
        if found := compare(self._arena, self._snapshots, question):
            return found
        for spots in self._spots.values():
            spots.put_back()
        found = compare(self._arena, self._snapshots, question)
        return found and found.model_copy(update={"kind": LATE})

    def trespass(self, question: Question) -> Mismatch | None:
        return self._forbidden.seen(question)


class Forbidden:
    """Where a call may write nothing: around every buffer, and into its inputs. All of it is looked at by a kernel of
    ours and told in one go; asked one by one, the answers take longer than a round."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._guards = [(buffer, *guard) for buffer in arena.buffers.values() for guard in buffer.guards()]
        self._inputs = arena.of_kind(Kind.INPUT)
        sizes = [zone.numel() for _, zone, _ in self._guards] + [it.count for it in self._inputs]
        blocks = [kernels.look_blocks(it) for it in sizes]
        self._numbers = torch.zeros(sum(blocks), dtype=torch.int32, device="cuda")
        self._shares = torch.split(self._numbers, blocks)

    def seen(self, question: Question) -> Mismatch | None:
        """What was written there. Seen once, it counts, also where it has been put back a moment later."""
        shares = iter(self._shares)
        for _, zone, untouched in self._guards:
            kernels.differ(zone, untouched, next(shares))
        for buffer in self._inputs:
            revealed = question.inputs[buffer.argument.name]
            kernels.differ(buffer.values, revealed.reshape(-1), next(shares))
        if not (self._numbers.numel() and self._numbers.any().item()):
            return None
        return trespass(self._arena, question) or self._summary()

    def _summary(self) -> Mismatch:
        owners = [(it, "out_of_bounds") for it, _, _ in self._guards]
        owners += [(it, "input_changed") for it in self._inputs]
        numbers = [int(it.sum()) for it in self._shares]
        buffer, kind, wrong = next(
            (*owner, number) for owner, number in zip(owners, numbers, strict=True) if number
        )
        return Mismatch(argument=buffer.argument.name, kind=kind, wrong=wrong, total=buffer.count)


class Spots:
    """The elements of one result that a glance is at: one of each of ``_SPOTS`` like parts, drawn anew each time, or
    all of a result that has no more."""

    def __init__(self, buffer: Buffer, snapshot: torch.Tensor) -> None:
        self._snapshot = snapshot.view(-1)
        self._part = max(1, -(-buffer.count // _SPOTS))
        self.count = -(-buffer.count // self._part)
        self._last = buffer.count - 1
        self._first = torch.arange(self.count, device="cuda") * self._part
        self._chance = torch.Generator("cuda").manual_seed(secrets.randbits(63))
        self.places = self._first.clone()
        self.taken = torch.empty(self.count, dtype=snapshot.dtype, device="cuda")

    def draw(self) -> None:
        """Where the next glance looks. Enqueues."""
        within = torch.randint(self._part, self._first.shape, generator=self._chance, device="cuda")
        torch.add(self._first, within, out=self.places).clamp_(max=self._last)

    def put_back(self) -> None:
        """Make the snapshot what it was at these elements when they were glanced at."""
        self._snapshot[self.places] = self.taken
