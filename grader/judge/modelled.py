"""Times by the emulated GPU's model: no clock, no control.

A time is for one counted and checked call on unpredictable inputs. It is the same on every machine if work does not
depend on values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.challenge.dtypes import DType
from grader.challenge.loader import Challenge
from grader.challenge.model import NamedBaseline, Workload
from grader.judge.channel import ChannelError
from grader.judge.counted_calls import CountedCalls
from grader.judge.eager_cost import eager_seconds
from grader.judge.host_device import model_ceilings
from grader.judge.job import counted
from grader.judge.named_baselines import NamedBaselineFailed
from grader.judge.roofline import light_cost
from grader.judge.rule import Measured, Own
from grader.judge.runner_client import RunnerClient, Timed
from grader.judge.timekeeper import Baselines, Half, HostComputed, Reading, TimedWrong, Timekeeper
from grader.judge.timing import WrongInTiming
from grader.sandbox.emulator.model import H200, least_seconds
from grader.schemas.call_profile import CallProfile
from grader.scoring import Estimate

if TYPE_CHECKING:
    pass

# See ``sandbox/runner/emulated_loader.py``.
_NOTE = b"[emulated GPU] "


class Modelled(Timekeeper):
    """``Timed.gate`` is the model's time."""

    def control(self) -> None:
        """Not needed."""

    def ahead(self, control: RunnerClient | None) -> list[Half]:
        return [Half(workload, ()) for workload in self.fitting()]

    def own(self, subject: RunnerClient, halves: Sequence[Half], again: str = "") -> list[Own]:
        """Raises TimedWrong, HostComputed."""
        subject.printed()  # discard output of cases
        found = []
        self.too_fast = []
        for number, half in enumerate(halves):
            counts = counted(number + 1, len(halves), "workload")
            self.tell(number, f"Counting the work of {counts}: {half.workload.name}")
            try:
                with self.clock("timing"):
                    answer = CountedCalls(self.request, subject, half.workload).counted()
            except HostComputed:
                raise
            except (WrongInTiming, ChannelError) as error:
                raise TimedWrong(half.workload, error) from error
            assert answer.modelled_s is not None
            if answer.constructs is not None:
                self.watched[half.workload.name] = answer.constructs
            least = least_of(self.request.challenge, half.workload)
            if answer.modelled_s < least:
                self.too_fast.append(half.workload.name)
            timed = Timed(0.0, max(answer.modelled_s, least), 0.0, 0.0)
            found.append(Own([timed], gated=True, profile=answer.profile))
        lines = subject.printed().splitlines()
        self.silenced = any(line.strip() and not line.startswith(_NOTE) for line in lines)
        return found

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
            found: Baselines = {
                workload.name: {"eager": round(1e6 * eager_seconds(self.request.challenge, workload), 3)}
                for workload in missing
            }
        self._time_named(found, workloads, control)
        return found

    def _named(
        self,
        workload: Workload,
        client: RunnerClient,
        control: RunnerClient | None,
        baseline: NamedBaseline,
    ) -> Measured:
        try:
            answer = CountedCalls(self.request, client, workload).counted()
        except (HostComputed, WrongInTiming, ChannelError) as error:
            raise NamedBaselineFailed(f"{workload.name}: {error}") from error
        assert answer.modelled_s is not None
        return _exactly(max(answer.modelled_s, least_of(self.request.challenge, workload)), None)


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


def least_of(challenge: Challenge, workload: Workload) -> float:
    """The least time of any kernel: reads inputs, writes outputs, computes at the highest rate."""
    tf32 = H200.flops["wgmma tf32"] * H200.multiprocessors * H200.clock
    cost = light_cost(challenge.manifest, workload, {**model_ceilings(), f"rate:{DType.FLOAT32.value}": tf32})
    assert cost.rate is not None
    return least_seconds(cost.bytes, cost.flops, cost.rate)
