"""Times workloads one call a round, by the judge's own clock, corrected by a control and charged for work outside the
gate. docs/judging.md gives the argument; this file is the method."""

from __future__ import annotations

import hashlib
import hmac
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.judge.arena import Arena
from grader.judge.compare import compare
from grader.judge.oracle import Question, ask, scalar_values, workload_case
from grader.judge.remote import Answer, Remote, Timed
from grader.schemas.report import Mismatch
from grader.scoring import Estimate, median_error, median_interval

# Known length of the control's call: long beside the cost of a round, short beside a workload.
CONTROL_US = 1000.0
# E within this share of the window, or within three standard errors, is noise.
WINDOW_NOISE = 0.01
NOISE_ERRORS = 3.0
# A shared CPU moves the end of a window by about a scheduler's tick.
HOST_NOISE_S = 0.5e-3
# A time after corrections can come out at or below zero only for a call that does nothing; it is shown as this.
SHORTEST_S = 1e-7


@dataclass(frozen=True)
class Plan:
    """How many rounds. ``seconds`` bounds one workload: no further round starts after it."""

    rounds: int = 15
    control_rounds: int = 7
    warm_up: int = 2
    seconds: float = 6.0


@dataclass(frozen=True)
class Measured:
    """One workload's time per call, seconds. ``charged`` was added for work outside the gate."""

    time: Estimate
    rounds: int
    host: float
    charged: float


class WrongInTiming(Exception):
    """A timed round's output differs: the submission is wrong, whatever its cases said."""

    def __init__(self, seed: int, mismatch: Mismatch | None, answer: Answer) -> None:
        super().__init__("a timed call gave a wrong answer")
        self.seed = seed
        self.mismatch = mismatch
        self.answer = answer


class Stopwatch:
    """Times one workload of one challenge: control, subject, control, all on the same buffers."""

    def __init__(self, challenge: Challenge, workload: Workload, seed_key: bytes, plan: Plan) -> None:
        self.challenge = challenge
        self.plan = plan
        self.case = workload_case(workload.name, workload.sizes)
        self._key = seed_key
        self._drawn = 0
        self.arena = Arena(challenge.manifest, workload.sizes, scalar_values(challenge.manifest, self.case))

    def measure(self, subject: Remote, control: Remote, *, checked: bool = True) -> Measured:
        """Time ``subject``. ``checked``: a wrong output ends it (a baseline is ours, and returns its result).

        Raises WrongInTiming, or a ChannelError where a box fails.
        """
        try:
            before = self._rounds(control, self.plan.control_rounds, checked=False)
            own = self._rounds(subject, self.plan.rounds, checked=checked)
            after = self._rounds(control, self.plan.control_rounds, checked=False)
        finally:
            self.arena.close()
        return settle(own, [*before, *after], CONTROL_US * 1e-6)

    def _rounds(self, remote: Remote, count: int, *, checked: bool) -> list[Timed]:
        remote.bind(self.arena)
        end = time.perf_counter() + self.plan.seconds
        kept: list[Timed] = []
        for number in range(self.plan.warm_up + count):
            timed = self._round(remote, checked)
            if number >= self.plan.warm_up:
                kept.append(timed)
            if len(kept) >= 3 and time.perf_counter() > end:
                break
        return kept

    def _round(self, remote: Remote, checked: bool) -> Timed:
        seed = self._fresh_seed()
        question = ask(self.challenge, self.case, seed)
        found: list[Mismatch | None] = []
        timed, answer = remote.timed_call(
            self.arena,
            question.inputs,
            self.challenge.manifest.limits.case_seconds,
            lambda: found.append(self._check(question)),
        )
        if checked and (found[0] is not None or answer.failure is not None):
            raise WrongInTiming(seed, found[0], answer)
        return timed

    def _check(self, question: Question) -> Mismatch | None:
        return compare(self.arena, self.arena.snapshot(), question)

    def _fresh_seed(self) -> int:
        """A seed that no round had before, and that nobody without the key can foretell."""
        self._drawn += 1
        text = f"{self.case.name}:round {self._drawn}".encode()
        return int.from_bytes(hmac.digest(self._key, text, hashlib.sha256)[:6], "big")


def settle(own: Sequence[Timed], control: Sequence[Timed], control_s: float) -> Measured:
    """The rule. With G = gate time and S = window: c = median(G of control) - its known length,
    E = median(S - G) - median(S - G of control). Time = median(G) - c, plus E where E is beyond its noise."""
    fixed = statistics.median([it.gate for it in control]) - control_s
    outside = [it.window - it.gate for it in own]
    usual = [it.window - it.gate for it in control]
    excess = statistics.median(outside) - statistics.median(usual)
    error = (median_error(outside) ** 2 + median_error(usual) ** 2) ** 0.5
    window = statistics.median([it.window for it in own])
    noise = max(NOISE_ERRORS * error, WINDOW_NOISE * window, HOST_NOISE_S)
    charged = excess if excess > noise else 0.0
    gate = median_interval([it.gate for it in own])
    shift = charged - fixed
    low, middle, high = (
        max(SHORTEST_S, it + shift) for it in (gate.interval[0], gate.value, gate.interval[1])
    )
    host = statistics.median([it.host for it in own])
    return Measured(Estimate(middle, (low, high)), len(own), host, charged)
