"""Makes a workload's rounds, one call each, for grader/judge/rule.py."""

from __future__ import annotations

import hashlib
import hmac
import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import repeat

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.challenge.overlays import drawn_specials, overlays
from grader.errors import ChallengeInvalid, JudgeFailure
from grader.judge.arena import Arena, Poison
from grader.judge.device import DeviceRecord, Staging, TimedDevice, TimingPlan
from grader.judge.oracle import Question, ask, scalar_values, workload_case
from grader.judge.phases import phase
from grader.judge.roofline import is_ranked
from grader.judge.rule import ControlRound, Own
from grader.judge.runner_client import Answer, RunnerClient, Ungated
from grader.limits import RANKED_ROOFLINE_US
from grader.logs import get_logger
from grader.schemas.report import Mismatch
from grader.scoring import KNOWN_WITHIN, Z95, midmean, midmean_error, midmean_interval

log = get_logger(__name__)

# Longer than a round's cost, shorter than a workload.
CONTROL_US = 1000.0
# Share of counted rounds with outliers, and the least number per recipe.
RARE_SHARE = 0.6
_RARE_LEAST = 3
# More recipes, or calls too short to be ranked, need more rounds.
_FEW_RECIPES = 2
# For calls too short to be ranked: the control's halves must differ by less.
_SHORT_WARM_UPS = 3
# Share of counted rounds that check inputs for writes.
_INPUTS_SHARE = 0.5
# An interval needs these, even of a slow control or baseline.
_FEWEST_ROUNDS = 3

# A larger difference comes from different states of the device.
_DRIFT_ERRORS = 3.0


def drifted(gates: Sequence[float], share: float) -> bool:
    """True if the halves differ beyond chance and by more than ``share``.

    A warm GPU takes 0.4 % longer for matrix products. The earlier half is then dropped, else the time depends on the
    number of rounds. Provoking it gains nothing.
    """
    middle = len(gates) // 2
    first, second = gates[:middle], gates[middle:]
    differ = abs(midmean(second) - midmean(first))
    errors = math.hypot(midmean_error(first), midmean_error(second))
    return differ > max(_DRIFT_ERRORS * errors, share * midmean(second))


class WrongInTiming(Exception):
    """The submission is wrong, although its cases passed."""

    def __init__(self, case: Case, seed: int, mismatch: Mismatch | None, answer: Answer) -> None:
        why = mismatch.model_dump_json(exclude_none=True) if mismatch else answer.failure
        super().__init__(f"a timed call of '{case.name}' with seed {seed} gave a wrong answer: {why}")
        self.case = case
        self.seed = seed
        self.mismatch = mismatch
        self.answer = answer


class TooSlow(Exception):
    """``fewest`` rounds took more than ``limit`` seconds, in or between calls."""

    def __init__(self, *, in_calls: bool, limit: float, fewest: int, made: int) -> None:
        super().__init__(f"{made} of {fewest} rounds within {limit:g} s")
        self.in_calls = in_calls
        self.limit = limit
        self.fewest = fewest
        self.made = made


def fewest_rounds(plan: TimingPlan, recipes: int, *, ranked: bool = True) -> int:
    """More if few rounds would hold ordinary inputs, or if calls are too short to be ``ranked``: their rounds say
    less."""
    more = recipes > _FEW_RECIPES or not ranked
    return plan.rounds + (plan.rounds // 2 if more else 0)


def rare_counts(fewest: int, recipes: int) -> list[int]:
    """Rounds with outliers of each recipe: chance might leave one out."""
    if not recipes:
        return []
    together = min(fewest, max(int(fewest * RARE_SHARE), _RARE_LEAST * recipes))
    return [together // recipes + (number < together % recipes) for number in range(recipes)]


class BaselineFailed(JudgeFailure):
    """A baseline cannot be timed here."""


@dataclass(frozen=True)
class Asked:
    case: Case
    seed: int
    question: Question


class Stopwatch:
    """One workload's rounds. ``part`` seeds them: no part draws another's inputs.

    Each half of the control has a stopwatch: an idling submission could slow the control and be credited for it.
    """

    def __init__(
        self, challenge: Challenge, workload: Workload, seed_key: bytes, device: TimedDevice, part: str
    ) -> None:
        self.challenge = challenge
        self.device = device
        self.plan = device.plan
        self.case = workload_case(challenge, workload)
        self._key = seed_key
        self._part = part
        text = f"{self.case.name}:{part}:dice".encode()
        self._dice = random.Random(hmac.digest(seed_key, text, hashlib.sha256))  # noqa: S311 - its seed is secret
        found = overlays(challenge, workload)
        self._rare = [workload_case(challenge, workload, overlay) for overlay in found if overlay.counts]
        self._special = [overlay for overlay in found if not overlay.counts]
        self._workload = workload
        self._ranked = is_ranked(challenge.manifest, workload, device)
        self._drawn = 0
        self._names: list[str] = []
        self._kept: Asked | None = None
        scalars = scalar_values(challenge.manifest, self.case)
        with phase("arena", enqueues=True):
            self.arena = Arena(
                challenge.manifest, workload.sizes, scalars, device.memories, without=self.case.without
            )
            self._watch = device.watch(self.arena)

    def control(self, client: RunnerClient) -> list[ControlRound]:
        """Half of the rounds, with each call's known seconds. Raises a ChannelError.

        With staging, all ask the same, because drawing takes longer than a round.
        """
        if self.device.staging is not None:
            self._kept = self._draw(self.case)
        with self._bound(client):
            record = self.device.record()
            rounds = self.plan.control_rounds
            self._warm_up_rounds(client, checked=False, gated=True)
            return self._rounds(client, rounds, rounds, record, checked=False, gated=True)

    def own(self, client: RunnerClient, *, checked: bool = True) -> Own:
        """The rounds of a submission, or (not ``checked``) a baseline. Raises WrongInTiming, TooSlow, or a
        ChannelError."""
        # Warm-up rounds share a question: drawing takes longer than a round.
        self._kept = self._draw(self.case)
        with self._bound(client):
            gated = self._warm_up(client, checked=checked)
            record = self.device.record()
            fewest = fewest_rounds(self.plan, len(self._rare), ranked=self._ranked)
            most = max(fewest, self.plan.most_rounds)
            try:
                self._warm_up_rounds(client, checked=checked, gated=gated)
                self._kept = None
                rounds = self._rounds(client, fewest, most, record, checked=checked, gated=gated)
            except Ungated:
                # One call that does not queue makes all rounds ungated: a submission must not choose which ones are.
                self._kept, gated, record = None, False, self.device.record()
                self._warm_up_rounds(client, checked=checked, gated=False)
                rounds = self._rounds(client, fewest, most, record, checked=checked, gated=False)
        state = record.state() if record is not None else None
        return Own([timed for timed, _ in rounds], gated, state, drawn=self._names)

    @contextmanager
    def _bound(self, client: RunnerClient) -> Iterator[None]:
        try:
            client.bind(self.arena)
            # A first load or allocation would wait forever behind the gate's holds.
            question = self._ask(self.case).question
            with phase("aim", enqueues=True):
                self._watch.aim(question)
                self.device.reveal(self.arena, question.inputs)
                self._watch.spot_check()
                self._watch.full_check()
            yield
        finally:
            with phase("arena"):
                self.arena.close()
            client.unbind()

    def _warm_up(self, subject: RunnerClient, *, checked: bool = True) -> bool:
        """True if the call queues. Raises BaselineFailed if a baseline (not ``checked``) fails."""
        seconds = self.challenge.manifest.limits.call_seconds(self.device.on_processor)
        inputs = self._ask(self.case).question.inputs
        with phase("first call"):
            failure = subject.warm_up(self.arena, inputs, seconds).failure
        if failure is not None and not checked:
            raise BaselineFailed(f"the baseline failed: {failure.type}: {failure.message}")
        if subject.needs_open_gate:
            return False
        try:
            self._round(subject, self.case, checked=False, gated=True)
        except Ungated:
            return False
        return True

    def _warm_up_rounds(self, client: RunnerClient, *, checked: bool, gated: bool) -> None:
        for _ in range(self.plan.warm_up if self._ranked else _SHORT_WARM_UPS * self.plan.warm_up):
            self._round(client, self.case, checked=checked, gated=gated)

    def _rounds(
        self,
        client: RunnerClient,
        fewest: int,
        most: int,
        record: DeviceRecord | None,
        *,
        checked: bool,
        gated: bool,
    ) -> list[ControlRound]:
        """``fewest`` rounds, and up to ``most`` while they differ and time is left. A submission never makes fewer,
        else it could gamble."""
        end = time.perf_counter() + self.plan.seconds
        kept: list[ControlRound] = []
        questions = self._questions(fewest, kept) if checked else repeat((self.case, True))
        self._names = names = []
        made, in_calls, between = 0, 0.0, 0.0
        enough = fewest if checked else _FEWEST_ROUNDS
        most = most if self._ranked else fewest
        while len(kept) < fewest or (made < most and not self._known_well(kept)):
            case, counts = next(questions)
            if not counts:
                self._special_round(client, case, gated=gated)
                continue
            # Comparing inputs takes as long as a memory-bound call. A kernel that writes into them does so in each
            # call, or gains nothing.
            inputs = self._dice.random() < _INPUTS_SHARE
            timed = self._round(client, case, checked=checked, gated=gated, inputs=inputs)
            if record is None or record.round_counts():
                kept.append(timed)
                names.append(case.name)
                made += 1
                one = timed[0]
                in_calls += one.before + one.gate + one.after
                between += one.between
            if len(kept) >= enough and time.perf_counter() > end:
                break
            if checked and made < fewest:
                self._in_time(in_calls, between, fewest, made)
            if len(kept) >= fewest and made < most and self._is_settling(kept, record):
                del kept[: len(kept) // 2], names[: len(names) // 2]
        return kept

    def _is_settling(self, rounds: Sequence[ControlRound], record: DeviceRecord | None) -> bool:
        if not self.plan.settles or not self._known_well(rounds):
            return False
        if record is not None and record.warmed(len(rounds)):
            return True
        return drifted([timed.gate for timed, _ in rounds], self.plan.enough)

    def _in_time(self, in_calls: float, between: float, fewest: int, made: int) -> None:
        """Raises TooSlow."""
        limits = ((True, in_calls, self.plan.call_seconds), (False, between, self.plan.between_seconds))
        for which, spent, limit in limits:
            if spent > limit:
                raise TooSlow(in_calls=which, limit=limit, fewest=fewest, made=made)

    def _known_well(self, rounds: Sequence[ControlRound]) -> bool:
        """The published interval is wider if there are few rounds."""
        gates = [timed.gate for timed, _ in rounds]
        steady = Z95 * midmean_error(gates) <= self.plan.enough * midmean(gates)
        return steady and midmean_interval(gates).within(KNOWN_WITHIN / 2)

    def _special_round(self, client: RunnerClient, case: Case, *, gated: bool) -> None:
        try:
            self._round(client, case, checked=True, gated=gated)
        except ChallengeInvalid as error:  # special values may not fit the workload's sizes (indices)
            log.warning("special_inputs_do_not_fit", case=case.name, error=str(error))

    def _questions(self, fewest: int, kept: Sequence[ControlRound]) -> Iterator[tuple[Case, bool]]:
        """Endless questions, with True if the round counts; a submission cannot see which.

        Every series has all recipes of outliers and special values: else a submission could provoke more rounds (uneven
        calls, heat) and skip work in them. For unranked rounds the first is enough.
        """
        while True:
            asked = not kept or midmean([timed.gate for timed, _ in kept]) >= RANKED_ROOFLINE_US * 1e-6
            specials = [
                (self._dice.randrange(fewest), workload_case(self.challenge, self._workload, overlay))
                for overlay in (drawn_specials(self._special, self._dice) if asked else ())
            ]
            for place, case in enumerate(self._series(fewest)):
                yield from ((special, False) for at, special in specials if at == place)
                yield case, True

    def _series(self, fewest: int) -> list[Case]:
        counts = rare_counts(fewest, len(self._rare))
        series = [case for case, times in zip(self._rare, counts, strict=True) for _ in range(times)]
        series += [self.case] * (fewest - len(series))
        self._dice.shuffle(series)
        return series

    def _round(
        self, client: RunnerClient, case: Case, *, checked: bool, gated: bool, inputs: bool = True
    ) -> ControlRound:
        asked = self._ask(case)
        question = asked.question
        self.arena.poison = Poison.in_turn(asked.seed)
        with phase("aim", enqueues=True):
            self._watch.aim(question)
        timed, answer = client.timed_call(
            self.arena,
            question.inputs,
            self.challenge.manifest.limits.call_seconds(self.device.on_processor),
            self._watch,
            gated=gated,
        )
        if checked:
            with phase("trespass", enqueues=True):
                outside = self._watch.forbidden_write(question, inputs=inputs)
            mismatch = (self._watch.explain(question) if self._watch.suspicious() else None) or outside
            if mismatch is not None or answer.failure is not None:
                # Even if a wait was left out: that must not excuse a kernel that is sometimes wrong.
                raise WrongInTiming(asked.case, asked.seed, mismatch, answer)
        return timed, answer.control_s if answer.control_s is not None else CONTROL_US * 1e-6

    def _ask(self, case: Case) -> Asked:
        staging = self.device.staging
        asked = self._kept or self._draw(case, staging)
        if staging is None:
            return asked
        with phase("stage", enqueues=True):
            return replace(asked, question=staging.stage(asked.question))

    def _draw(self, case: Case, staging: Staging | None = None) -> Asked:
        """``staging``: for answers. A kept question must be elsewhere."""
        on, seed = self.device.torch_device, self._fresh_seed()
        room = staging.room if staging is not None else None
        return Asked(case, seed, ask(self.challenge, case, seed, on, draw_on=on, room=room))

    def _fresh_seed(self) -> int:
        """Unpredictable without the key; no round had it before."""
        self._drawn += 1
        text = f"{self.case.name}:{self._part}:round {self._drawn}".encode()
        return int.from_bytes(hmac.digest(self._key, text, hashlib.sha256)[:6], "big")
