"""Times a submission against a control, doubtful workloads again, and missing baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace

from grader.challenge.loader import Challenge
from grader.challenge.model import NamedBaseline, Workload
from grader.errors import JudgeFailure
from grader.judge import named_baselines
from grader.judge.channel import ChannelError
from grader.judge.device import TimedDevice
from grader.judge.failed_baselines import FAILED, key_of
from grader.judge.job import counted
from grader.judge.launch import Launcher
from grader.judge.messages import Constructs
from grader.judge.named_baselines import NamedBaselineFailed
from grader.judge.phases import phase
from grader.judge.request import Request
from grader.judge.rule import ControlRound, Measured, Own, compared_with_usual, settle
from grader.judge.runner_client import RunnerClient, Ungated
from grader.judge.timing import BaselineFailed, Stopwatch, TooSlow, WrongInTiming
from grader.logs import get_logger

log = get_logger(__name__)

# Workload -> baseline -> microseconds (None: too short to measure).
Baselines = dict[str, dict[str, float | None]]
# Takes the number of finished workloads and a label.
Tell = Callable[[int, str], None]
# Characters.
_MOST_WHY = 300
Clock = Callable[[str], AbstractContextManager[None]]


def costs_name(challenge: Challenge, workload: Workload) -> str:
    return f"{challenge.slug} {challenge.manifest.version}: {workload.name}"


@dataclass(frozen=True)
class Half:
    workload: Workload
    rounds: Sequence[ControlRound]


@dataclass(frozen=True)
class Reading:
    workload: Workload
    measured: Measured
    own: Own
    before: Sequence[ControlRound] = ()
    after: Sequence[ControlRound] = ()


class HostComputed(Exception):
    """``workload`` is right only if not counted: the host computes part of its result."""

    def __init__(self, workload: Workload) -> None:
        super().__init__(f"the host takes part in workload {workload.name}")
        self.workload = workload


class TimedWrong(Exception):
    def __init__(self, workload: Workload, error: WrongInTiming | TooSlow | ChannelError) -> None:
        super().__init__(f"{workload.name}: {error}")
        self.workload = workload
        self.error = error


@dataclass
class Timekeeper:
    """The order is control, submission, control. They are never alive together while timed (see ``Stopwatch``),
    except that our control's box idles."""

    request: Request
    device: TimedDevice
    launcher: Launcher
    tell: Tell
    #: Adds to the seconds spent under a name.
    clock: Clock
    #: Waits until the judge itself cannot disturb the next timing.
    quiet: Callable[[], None] = lambda: None
    #: Including those that were measured again.
    taken: list[Reading] = field(default_factory=list)
    #: Modelled times: workloads printed something that no report shows.
    silenced: bool = False
    #: Modelled times: what kernels did in each workload.
    watched: dict[str, Constructs] = field(default_factory=dict)
    #: Modelled times: workloads with less counted work than they need.
    too_fast: list[str] = field(default_factory=list)
    #: Workload -> baseline -> why it has no time.
    untimed: dict[str, dict[str, str]] = field(default_factory=dict)

    def control(self) -> RunnerClient | None:
        """None if not needed. Raises BoxUnavailable, JudgeFailure."""
        with self.clock("control"):
            return self.launcher.control()

    def ahead(self, control: RunnerClient | None) -> list[Half]:
        """Half of the control's rounds, before the submission lives. Rounds right after another submission are as
        good."""
        workloads, kept = self.fitting(), self.launcher.kept_control
        if kept is not None and (known := kept.rounds(self.request.challenge, workloads)):
            return [Half(workload, rounds) for workload, rounds in zip(workloads, known, strict=True)]
        return [Half(workload, self._control(control, workload, "before")) for workload in workloads]

    def fitting(self) -> list[Workload]:
        plan, challenge = self.device.memory_plan, self.request.challenge
        return [
            workload
            for workload in self.request.workloads
            if plan is None or not plan.shortage(challenge, workload)
        ]

    def own(self, subject: RunnerClient, halves: Sequence[Half], again: str = "") -> list[Own]:
        """Raises TimedWrong."""
        found = []
        for number, half in enumerate(halves):
            counts = counted(number + 1, len(halves), "workload")
            self.tell(number, f"Timing {counts}{again}: {half.workload.name}")
            try:
                with self.clock("timing"):
                    found.append(self._stopwatch(half.workload, f"own{again}").own(subject))
            except (WrongInTiming, TooSlow, ChannelError) as error:
                raise TimedWrong(half.workload, error) from error
        return found

    def settled(
        self, own: Sequence[Own], halves: Sequence[Half], control: RunnerClient | None, again: str = ""
    ) -> list[Reading]:
        found = []
        for rounds, half in zip(own, halves, strict=True):
            after = self._control(control, half.workload, f"after{again}")
            measured = self._settle(half.workload, rounds, half.rounds, after)
            if (costs := self.device.round_costs) is not None:
                measured = compared_with_usual(
                    costs, costs_name(self.request.challenge, half.workload), measured
                )
            found.append(Reading(half.workload, measured, rounds, half.rounds, after))
            if self.launcher.kept_control is not None:
                self.launcher.kept_control.keep_rounds(self.request.challenge, half.workload, after)
        self.taken += found
        return found

    def doubted(self, timed: Sequence[Reading], halves: Sequence[Half]) -> list[Half]:
        """Workloads to measure again: plainly charged for work outside the gate, or with a disturbed control.

        A busy machine rarely looks like hidden work twice. Only the second time counts, so a submission gains no more
        than by resubmitting.
        """
        if not self.device.confirms:
            return []
        # Leftovers of the submission may slow the control's second half.
        return [half for reading, half in zip(timed, halves, strict=True) if reading.measured.doubtful]

    def confirmed(
        self,
        timed: Sequence[Reading],
        doubted: Sequence[Half],
        control: RunnerClient | None,
        subject: RunnerClient,
    ) -> list[Reading]:
        """Measure again in a new box. Raises TimedWrong."""
        log.info("timed_again", workloads=[half.workload.name for half in doubted])
        own = self.own(subject, doubted, ", again")
        subject.close()
        again = {reading.workload.name: reading for reading in self.settled(own, doubted, control, ", again")}
        return [again.get(reading.workload.name, reading) for reading in timed]

    def baselines(self, workloads: Sequence[Workload], control: RunnerClient | None) -> Baselines:
        """Time baselines that are not frozen, after the submission's box ended.

        Doubtful or unknown times are measured up to three times: an idle GPU changes its clocks. A frozen time stays
        forever, so only sure ones, or "too short to measure", are frozen.
        """
        found: Baselines = {}
        for mode in self.device.baselines:
            missing = [
                workload
                for workload in workloads
                if mode not in self.request.baselines.get(workload.name, {})
            ]
            if not missing or self._failed_before(found, missing, mode):
                continue
            try:
                with self.clock("baselines"), closing(self.launcher.reference(mode)) as reference:
                    for workload in missing:
                        self.tell(len(workloads), f"Timing PyTorch ({mode}): {workload.name}")
                        for part in (mode, f"{mode}, again", f"{mode}, a third time"):
                            measured = self._baseline(workload, reference, control, part)
                            if measured.known and not (measured.doubtful and self.device.confirms):
                                break
                        self._keep(found, workload, mode, measured)
            except BaselineFailed as error:
                # torch cannot compute everything; the submission only loses its speedup.
                log.warning("baseline_left_out", baseline=mode, why=str(error))
                self._leave_out(found, missing, mode, str(error))
                FAILED.note(key_of(self.request.challenge, mode, self.device), str(error))
        self._time_named(found, workloads, control)
        return found

    def _keep(self, found: Baselines, workload: Workload, name: str, measured: Measured) -> None:
        if measured.company:
            self.untimed.setdefault(workload.name, {})[name] = "something else used the device"
        elif measured.known or measured.short:
            time_us = round(measured.time.value * 1e6, 3) if measured.known else None
            found.setdefault(workload.name, {})[name] = time_us
        else:
            self.untimed.setdefault(workload.name, {})[name] = "its times differ too much"

    def _leave_out(self, found: Baselines, missing: Sequence[Workload], name: str, why: str) -> None:
        for workload in missing:
            if name not in found.get(workload.name, {}):
                self.untimed.setdefault(workload.name, {})[name] = why[:_MOST_WHY]

    def _failed_before(
        self,
        found: Baselines,
        missing: Sequence[Workload],
        name: str,
        baseline: NamedBaseline | None = None,
    ) -> bool:
        why = FAILED.why(key_of(self.request.challenge, name, self.device, baseline))
        if why:
            self._leave_out(found, missing, name, why)
        return bool(why)

    def _time_named(
        self, found: Baselines, workloads: Sequence[Workload], control: RunnerClient | None
    ) -> None:
        """Leaves out those that fail."""
        challenge, on = self.request.challenge, self.device.on
        for baseline in named_baselines.applicable(challenge, on):
            missing = [
                workload
                for workload in workloads
                if baseline.name not in self.request.baselines.get(workload.name, {})
            ]
            if not missing or self._failed_before(found, missing, baseline.name, baseline):
                continue
            self.tell(len(workloads), f"Timing {baseline.name}")
            try:
                with self.clock("baselines"), closing(named_baselines.start(self.launcher, baseline)) as box:
                    for workload in missing:
                        measured = self._named(workload, box, control, baseline)
                        self._keep(found, workload, baseline.name, measured)
            except NamedBaselineFailed as error:
                log.warning("baseline_left_out", baseline=baseline.name, why=str(error))
                self._leave_out(found, missing, baseline.name, str(error))
                FAILED.note(key_of(challenge, baseline.name, self.device, baseline), str(error))

    def _named(
        self,
        workload: Workload,
        client: RunnerClient,
        control: RunnerClient | None,
        baseline: NamedBaseline,
    ) -> Measured:
        """Raises NamedBaselineFailed."""
        try:
            return self._baseline(workload, client, control, baseline.name, checked=bool(baseline.source))
        except (WrongInTiming, TooSlow, JudgeFailure) as error:
            raise NamedBaselineFailed(f"{workload.name}: {error}") from error

    def _baseline(
        self,
        workload: Workload,
        reference: RunnerClient,
        control: RunnerClient | None,
        part: str,
        *,
        checked: bool = False,
    ) -> Measured:
        # On several GPUs, the baseline is PyTorch on one with all the data.
        challenge = self.request.challenge
        if challenge.manifest.gpus > 1 and not checked:
            challenge = replace(challenge, manifest=challenge.manifest.on_one_gpu())
        before = self._control_rounds(control, workload, f"before {part}", challenge)
        try:
            own = self._stopwatch(workload, part, challenge).own(reference, checked=checked)
        except ChannelError as error:
            raise BaselineFailed(f"the baseline's box failed: {error}") from error
        after = self._control_rounds(control, workload, f"after {part}", challenge)
        measured = self._settle(workload, own, before, after)
        costs = self.device.round_costs
        # Only compare: the kept costs are submissions'.
        return measured if costs is None else replace(measured, company=not costs.is_usual(measured.cost))

    def _settle(
        self,
        workload: Workload,
        own: Own,
        before: Sequence[ControlRound],
        after: Sequence[ControlRound],
    ) -> Measured:
        costs = self.device.round_costs
        usual = costs.usual(costs_name(self.request.challenge, workload)) if costs is not None else None
        return settle(own, before, after, self.device.noise, usual)

    def _control(self, control: RunnerClient | None, workload: Workload, part: str) -> list[ControlRound]:
        with self.clock("control"):
            return self._control_rounds(control, workload, part)

    def _control_rounds(
        self, control: RunnerClient | None, workload: Workload, part: str, challenge: Challenge | None = None
    ) -> list[ControlRound]:
        assert control is not None
        try:
            return self._stopwatch(workload, f"control {part}", challenge).control(control)
        except ChannelError as error:
            raise JudgeFailure(f"the control's box failed: {error}") from error
        except Ungated as error:
            raise JudgeFailure("the control's call did not queue in time") from error

    def _stopwatch(self, workload: Workload, part: str, challenge: Challenge | None = None) -> Stopwatch:
        with phase("quiet"):
            self.quiet()
        challenge = challenge or self.request.challenge
        return Stopwatch(challenge, workload, self.request.seed_key, self.device, part)
