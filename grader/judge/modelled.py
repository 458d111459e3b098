"""Times by the emulated GPU's model: work is counted; no clock and no control are used.

The time is the model's for one counted call on unpredictable inputs, with its outputs checked: if work does not depend
on the inputs' values, the same on every machine. The baseline is modelled as PyTorch's operations, one kernel each, as
fast as the card allows.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.challenge.cases import Case
from grader.challenge.dtypes import DType
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.challenge.overlays import overlays
from grader.judge.arena import Arena
from grader.judge.boxed_reference import BoxedFunction
from grader.judge.channel import ChannelError
from grader.judge.compare import compare, forbidden_write
from grader.judge.job import counted
from grader.judge.oracle import ask, scalar_values, workload_case
from grader.judge.roofline import light_cost
from grader.judge.rule import Measured, Own
from grader.judge.runner_client import Answer, RunnerClient, Timed
from grader.judge.timekeeper import Baselines, Half, HostComputed, Reading, TimedWrong, Timekeeper
from grader.judge.timing import WrongInTiming
from grader.sandbox.emulator.model import H200, least_seconds
from grader.schemas.call_profile import CallProfile
from grader.scoring import Estimate

if TYPE_CHECKING:
    import torch

# Prefix of the emulated GPU's own lines in a submission's output (``sandbox/runner/emulated_loader.py``).
_NOTE = b"[emulated GPU] "
# Operations without a kernel, in addition to views.
_NO_KERNEL = (
    "empty",
    "new_empty",
    "_unsafe_view",
    "_local_scalar_dense",
    "_reshape_alias",
    "resize",
    "set_",
    "detach",
)
# Matrix products, with the position of the operand whose last size is summed over.
_PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1, "mv": 0, "dot": 0}
_TENSOR_TYPES = {"float16": "f16", "bfloat16": "bf16", "float64": "f64"}


class Modelled(Timekeeper):
    """See ``Timekeeper``; ``Timed.gate`` is the model's time."""

    def control(self) -> None:
        """None is needed."""

    def ahead(self, control: RunnerClient | None) -> list[Half]:
        return [Half(workload, ()) for workload in self.fitting()]

    def own(self, subject: RunnerClient, halves: Sequence[Half], again: str = "") -> list[Own]:
        """One counted call of each workload. Raises TimedWrong, HostComputed."""
        subject.printed()  # discard output of cases
        found = []
        self.too_fast = []
        for number, half in enumerate(halves):
            counts = counted(number + 1, len(halves), "workload")
            self.tell(number, f"Counting the work of {counts}: {half.workload.name}")
            try:
                with self.clock("timing"):
                    answer = self._counted(subject, half.workload)
            except HostComputed:
                raise
            except (WrongInTiming, ChannelError) as error:
                raise TimedWrong(half.workload, error) from error
            assert answer.modelled_s is not None
            least = least_of(self.request.challenge, half.workload)
            if answer.modelled_s < least:
                self.too_fast.append(half.workload.name)
            timed = Timed(0.0, max(answer.modelled_s, least), 0.0, 0.0)
            found.append(Own([timed], gated=True, profile=answer.profile))
        lines = subject.printed().splitlines()
        self.silenced = any(line.strip() and not line.startswith(_NOTE) for line in lines)
        return found

    def _counted(self, subject: RunnerClient, workload: Workload) -> Answer:
        """Calls before the counted one use other data, from random ``grader.challenge.overlays``: they reveal
        kernels that work only once, omitted work and missed special values."""
        challenge = self.request.challenge
        dice = random.Random(  # noqa: S311 - its seed is secret
            hmac.digest(self.request.seed_key, f"{workload.name}:dice".encode(), hashlib.sha256)
        )
        found = overlays(challenge, workload)
        kinds = [
            [overlay for overlay in found if overlay.counts],
            [overlay for overlay in found if not overlay.counts],
        ]
        ahead = [workload_case(challenge, workload, dice.choice(kind)) for kind in kinds if kind]
        for case in ahead or [workload_case(challenge, workload)]:
            self._call(subject, case, "ahead", count=False)
        plain = workload_case(challenge, workload)
        try:
            return self._call(subject, plain, "counted", count=True)
        except WrongInTiming as error:
            # If it is right on the same data without counting, the host saw data that it may not see when counting.
            # Twice, because every second call may be an empty one.
            for _ in range(2):
                self._call(subject, plain, "counted", count=False)
            raise HostComputed(workload) from error

    def _call(self, subject: RunnerClient, case: Case, data: str, *, count: bool) -> Answer:
        """``data`` goes into the seed of its inputs. Raises WrongInTiming, or a ChannelError."""
        challenge = self.request.challenge
        text = f"{case.name}:{data}".encode()
        seed = int.from_bytes(hmac.digest(self.request.seed_key, text, hashlib.sha256)[:6], "big")
        question = ask(challenge, case, seed)
        arena = Arena(challenge.manifest, case.sizes, scalar_values(challenge.manifest, case))
        seconds = challenge.manifest.limits.call_seconds(on_processor=True)
        try:
            subject.bind(arena)
            answer = subject.call(arena, question.inputs, seconds, count=count)
            wrong = compare(arena, arena.snapshot(), question) or forbidden_write(arena, question)
        finally:
            arena.close()
            subject.unbind()
        if wrong is not None or answer.failure is not None or (count and answer.modelled_s is None):
            raise WrongInTiming(case, seed, wrong, answer)
        return answer

    def settled(
        self, own: Sequence[Own], halves: Sequence[Half], control: RunnerClient | None, again: str = ""
    ) -> list[Reading]:
        return [
            Reading(half.workload, _exactly(rounds.rounds[0].gate, rounds.profile), rounds)
            for rounds, half in zip(own, halves, strict=True)
        ]

    def baselines(self, workloads: Sequence[Workload], control: RunnerClient | None) -> Baselines:
        missing = [
            workload for workload in workloads if "eager" not in self.request.baselines.get(workload.name, {})
        ]
        with self.clock("baselines"):
            return {
                workload.name: {"eager": round(1e6 * baseline_seconds(self.request.challenge, workload), 3)}
                for workload in missing
            }


def _exactly(seconds: float, profile: CallProfile | None) -> Measured:
    return Measured(
        time=Estimate(seconds, (seconds, seconds)),
        rounds=1,
        host=0.0,
        charged=0.0,
        fixed=0.0,
        drift=0.0,
        disturbed=0.0,
        beyond=(0.0, 0.0),
        noise=0.0,
        gated=True,
        profile=profile,
    )


def ceilings() -> dict[str, float]:
    flops = {
        DType.FLOAT64: H200.flops["f64"],
        DType.FLOAT32: H200.flops["wgmma tf32"],
        DType.FLOAT16: H200.flops["wgmma f16"],
        DType.BFLOAT16: H200.flops["wgmma bf16"],
        DType.INT8: H200.flops["wgmma s8"],
    }
    cycles = H200.multiprocessors * H200.clock
    return {"bandwidth": H200.dram, **{f"rate:{dtype.value}": cycles * rate for dtype, rate in flops.items()}}


def least_of(challenge: Challenge, workload: Workload) -> float:
    """The least seconds of any kernel: reading inputs, writing outputs, computing at the highest rate."""
    cost = light_cost(challenge.manifest, workload, ceilings())
    assert cost.rate is not None
    return least_seconds(cost.bytes, cost.flops, cost.rate)


def baseline_seconds(challenge: Challenge, workload: Workload) -> float:
    """The reference's time on the modelled card: each operation is a launch that reads operands and writes results
    at the speed of memory, or of arithmetic if that is slower."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.seconds = 0.0

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Torch asks every mode. Skipping would import torch.compile, which takes a second."""
            return False

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            name = function.overloadpacket.__name__
            if not (getattr(function, "is_view", False) or name.startswith(_NO_KERNEL)):
                self.seconds += _operation_seconds(name, args, result)
            return result

    manifest = challenge.manifest
    case = workload_case(challenge, workload)
    arguments = {
        **ask(challenge, case, seed=0).inputs,
        **scalar_values(manifest, case),
        **case.sizes,
    }
    function = challenge.reference.baseline or challenge.reference.compute
    if isinstance(function, BoxedFunction):
        asked = function.operations(arguments)
        counted = (operation for operation in asked if not operation.name.startswith(_NO_KERNEL))
        return max(
            sum(
                _operation_seconds(operation.name, operation.reads, operation.writes) for operation in counted
            ),
            H200.launch,
        )
    with torch.no_grad(), Counting() as counting:
        function(**arguments)
    return max(float(counting.seconds), H200.launch)


def _operation_seconds(name: str, args: Any, result: Any) -> float:
    tensors = [*_tensors(args), *_tensors(result)]
    moved = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    seconds: float = H200.latency + moved / H200.dram
    if name in _PRODUCTS:
        operands = [*_tensors(args)]
        summed = operands[_PRODUCTS[name]].shape[-1]
        flops = 2 * summed * sum(tensor.numel() for tensor in _tensors(result))
        seconds = max(seconds, H200.latency + flops / _flops_a_second(operands[-1]))
    elif "convolution" in name:
        weight = [*_tensors(args)][1]
        flops = 2 * math.prod(weight.shape[1:]) * sum(tensor.numel() for tensor in _tensors(result))
        seconds = max(seconds, H200.latency + flops / _flops_a_second(weight))
    return H200.launch + seconds


def _flops_a_second(tensor: torch.Tensor) -> float:
    kind = _TENSOR_TYPES.get(str(tensor.dtype).removeprefix("torch."))
    a_cycle = 2 * 32 * H200.rates["float"] if kind is None else H200.flops[kind]
    return float(a_cycle * H200.multiprocessors * H200.clock)


def _tensors(values: Any) -> list[torch.Tensor]:
    import torch

    if isinstance(values, torch.Tensor):
        return [values]
    return (
        [found for value in values for found in _tensors(value)] if isinstance(values, (list, tuple)) else []
    )
