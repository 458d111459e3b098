"""Times workloads one call a round, by the judge's own clock, corrected by a control and charged for work outside the
gate. docs/judging.md gives the argument; this file is the method."""

from __future__ import annotations

import hashlib
import hmac
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.judge.arena import Arena
from grader.judge.compare import broken_guard, changed_input
from grader.judge.device import FEWEST_ROUNDS, Device, Floor, Noise, Record
from grader.judge.oracle import Question, ask, scalar_values, workload_case
from grader.judge.remote import Answer, Remote, Timed, Ungated
from grader.judge.roofline import is_ranked
from grader.schemas.hardware import GpuState
from grader.schemas.report import Mismatch
from grader.scoring import Z95, Estimate, median_error, median_interval

# Known length of the control's call: long beside the cost of a round, short beside a workload.
CONTROL_US = 1000.0
# What lies outside the gate within this many standard errors of the control's is noise.
NOISE_ERRORS = 3.0
# From this many times its noise on, it is no noise at all, and all of it is charged.
PLAIN = 2.0
# A time after corrections can come out at or below zero only for a call that does nothing; it is shown as this.
SHORTEST_S = 1e-7
# What a time differs by from one box to the next beyond what its own rounds tell (benchmarks/gpu/repeatability.py).
BETWEEN_BOXES = 0.002


@dataclass(frozen=True)
class Measured:
    """One workload's time per call, seconds. ``fixed`` is the cost of a round that was taken off; ``beyond`` is what
    lay before and after the gate beyond the control's, which makes E, and ``noise`` what may lie there without meaning
    anything, on that side which goes beyond it most; ``charged`` was added for work outside the gate. Not ``gated``:
    its host time is in it. ``gpu``: how the device was meanwhile."""

    time: Estimate
    rounds: int
    host: float
    charged: float
    fixed: float
    beyond: tuple[float, float]
    noise: float
    gated: bool
    gpu: GpuState | None = None

    @property
    def plainly_charged(self) -> bool:
        """Whether more was charged than what goes a little beyond noise, as now and then happens to everybody."""
        return self.charged > self.noise

    @property
    def known(self) -> bool:
        """Whether the time is longer than what it may be off by; otherwise nothing can be divided by it."""
        return self.time.interval[0] > SHORTEST_S


class WrongInTiming(Exception):
    """A timed round's output differs: the submission is wrong, whatever its cases said."""

    def __init__(self, seed: int, mismatch: Mismatch | None, answer: Answer) -> None:
        super().__init__("a timed call gave a wrong answer")
        self.seed = seed
        self.mismatch = mismatch
        self.answer = answer


ControlRound = tuple[Timed, float]


@dataclass(frozen=True)
class Own:
    """The rounds of what is timed, whether its calls queued behind the closed gate, and how the device was."""

    rounds: Sequence[Timed]
    gated: bool
    gpu: GpuState | None = None


class Stopwatch:
    """Makes the rounds of one workload of one challenge. ``part`` names them, so that none draws what another drew.

    A submission and its control are never alive together while either is timed: a process that idles through its own
    rounds could otherwise slow the control, and be credited for it. So each half has a stopwatch of its own.
    """

    def __init__(
        self, challenge: Challenge, workload: Workload, seed_key: bytes, device: Device, part: str
    ) -> None:
        self.challenge = challenge
        self.device = device
        ranked = is_ranked(challenge.manifest, workload, device)
        self.plan = device.plan if ranked else device.plan.shorter()
        self.case = workload_case(challenge, workload)
        self._key = seed_key
        self._part = part
        self._drawn = 0
        scalars = scalar_values(challenge.manifest, self.case)
        self.arena = Arena(challenge.manifest, workload.sizes, scalars, device.memories)
        self._watch = device.watch(self.arena)

    def control(self, remote: Remote) -> list[ControlRound]:
        """Half of the control's rounds, each with its call's known length in seconds. Raises a ChannelError."""
        with self._bound(remote):
            record = self.device.record()
            count = self.plan.control_rounds
            return self._rounds(remote, count, count, record, checked=False, gated=True)

    def own(self, remote: Remote, *, checked: bool = True) -> Own:
        """The rounds of a submission or baseline. ``checked``: a wrong output ends it (a baseline is ours, and
        returns its result). Raises WrongInTiming, or a ChannelError where the box fails."""
        with self._bound(remote):
            gated = self._warm_up(remote)
            record, fewest, most = self.device.record(), self.plan.rounds, self.plan.most_rounds
            rounds = self._rounds(remote, fewest, most, record, checked=checked, gated=gated)
        return Own([it for it, _ in rounds], gated, record.state())

    @contextmanager
    def _bound(self, remote: Remote) -> Iterator[None]:
        try:
            remote.bind(self.arena)
            # Once ahead of the rounds: what a reveal or a look loads or allocates for the first time would wait for
            # ever behind the gate's holds.
            question = self._ask(self._fresh_seed())
            self._watch.aim(question)
            self.device.reveal(self.arena, question.inputs)
            self._watch.glance()
            self._watch.look()
            yield
        finally:
            self.arena.close()
            remote.unbind()

    def _warm_up(self, subject: Remote) -> bool:
        """Let the subject compile and allocate at these sizes; returns whether its call queues behind the gate."""
        seed = self._fresh_seed()
        seconds = self.challenge.manifest.limits.case_seconds
        subject.warm_up(self.arena, self._ask(seed).inputs, seconds)
        try:
            self._round(subject, checked=False, gated=True)
        except Ungated:
            return False
        return True

    def _rounds(
        self, remote: Remote, fewest: int, most: int, record: Record, *, checked: bool, gated: bool
    ) -> list[ControlRound]:
        """Rounds after warm-up, each with the call's known length (a control's; else meaningless): ``fewest``, and up
        to ``most`` while they differ too much."""
        end = time.perf_counter() + self.plan.seconds
        for _ in range(self.plan.warm_up):
            self._round(remote, checked=checked, gated=gated)
        kept: list[ControlRound] = []
        while len(kept) < fewest or (len(kept) < most and not self._known_well(kept)):
            timed = self._round(remote, checked=checked, gated=gated)
            if record.round_counts():
                kept.append(timed)
            if len(kept) >= FEWEST_ROUNDS and time.perf_counter() > end:
                break
        return kept

    def _known_well(self, rounds: Sequence[ControlRound]) -> bool:
        gates = [it.gate for it, _ in rounds]
        return Z95 * median_error(gates) <= self.plan.enough * statistics.median(gates)

    def _round(self, remote: Remote, *, checked: bool, gated: bool) -> ControlRound:
        seed = self._fresh_seed()
        question = self._ask(seed)
        self._watch.aim(question)
        timed, answer = remote.timed_call(
            self.arena,
            question.inputs,
            self.challenge.manifest.limits.case_seconds,
            self._watch,
            gated=gated,
        )
        # Looked for in a control's rounds too, so that every round begins where a like one ended.
        trespass = broken_guard(self.arena) or changed_input(self.arena, question)
        if checked:
            mismatch = (self._watch.explain(question) if self._watch.suspicious() else None) or trespass
            if mismatch is not None or answer.failure is not None:
                raise WrongInTiming(seed, mismatch, answer)
        return timed, answer.control_s if answer.control_s is not None else CONTROL_US * 1e-6

    def _ask(self, seed: int) -> Question:
        on = self.device.torch_device
        return self.device.stage(ask(self.challenge, self.case, seed, on, draw_on=on))

    def _fresh_seed(self) -> int:
        """A seed that no round had before, and that nobody without the key can foretell."""
        self._drawn += 1
        text = f"{self.case.name}:{self._part}:round {self._drawn}".encode()
        return int.from_bytes(hmac.digest(self._key, text, hashlib.sha256)[:6], "big")


def settle(own: Own, first: Sequence[ControlRound], second: Sequence[ControlRound], noise: Noise) -> Measured:
    """The rule, with the control's rounds from ahead of the own ones and from behind them.

    With G = gate time: c = median of (G of control - its known length). Time = median(G) - c, plus what ``_Side``
    charges for what a round takes before its gate and after it, beyond what the control's takes there.

    Before and after are held against the control's one by one: being quick in the one makes up for nothing in the
    other. The interval holds what the rounds, the control's and the boxes' differ by.
    """
    costs = [it.gate - known for it, known in (*first, *second)]
    fixed = statistics.median(costs)
    gate = median_interval([it.gate for it in own.rounds])
    most = noise.most * (gate.value - fixed)
    before = _side([it.before for it in own.rounds], _before(first), _before(second), noise.before, most)
    after = _side([it.after for it in own.rounds], _after(first), _after(second), noise.after, most)
    sides = (before, after)
    charged = sum(it.charged for it in sides)
    errors = [median_error(costs) * Z95, *(it.error * Z95 for it in sides if it.charged)]
    return Measured(
        time=_corrected(gate, charged - fixed, errors),
        rounds=len(own.rounds),
        host=statistics.median([it.host for it in own.rounds]),
        charged=charged,
        fixed=fixed,
        beyond=(before.beyond, after.beyond),
        noise=max(sides, key=lambda it: it.beyond / it.noise).noise,
        gated=own.gated,
        gpu=own.gpu,
    )


@dataclass(frozen=True)
class _Side:
    """What lies on one side of the gate ``beyond`` the control's, its standard error, and what it may be without
    meaning anything."""

    beyond: float
    error: float
    noise: float

    @property
    def charged(self) -> float:
        """All of it, where it is plainly no noise; else what goes beyond the noise.

        An honest call that lies a little above its noise is then charged that little, and its time does not jump.
        What hidden work can gain is the same as if all were charged from the noise on: at most the noise.
        """
        return self.beyond if self.beyond >= PLAIN * self.noise else max(0.0, self.beyond - self.noise)


def _side(
    own: Sequence[float], first: Sequence[float], second: Sequence[float], floor: Floor, most: float
) -> _Side:
    """``most``: of the noise that rounds and drift make."""
    control = [*first, *second]
    usual = statistics.median(control)
    error = math.hypot(median_error(own), median_error(control))
    drift = abs(statistics.median(first) - statistics.median(second))
    seen = min(max(NOISE_ERRORS * error, drift), most)
    noise = max(seen, floor.share * usual, floor.least)
    return _Side(statistics.median(own) - usual, error, noise)


def _before(rounds: Sequence[ControlRound]) -> list[float]:
    return [it.before for it, _ in rounds]


def _after(rounds: Sequence[ControlRound]) -> list[float]:
    return [it.after for it, _ in rounds]


def _corrected(gate: Estimate, shift: float, errors: Sequence[float]) -> Estimate:
    """``gate`` moved by ``shift``, its interval widened by ``errors`` and by what boxes differ by, in squares."""
    value = gate.value + shift
    widened = (*errors, BETWEEN_BOXES * value)
    low = value - math.hypot(gate.value - gate.interval[0], *widened)
    high = value + math.hypot(gate.interval[1] - gate.value, *widened)
    value, low, high = (max(SHORTEST_S, it) for it in (value, low, high))
    return Estimate(value, (low, high))
