"""What the rounds of a stopwatch are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from grader.challenge.cases import Case
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.judge import timing
from grader.judge.arena import Arena, Poison
from grader.judge.device import TimingPlan
from grader.judge.host_device import HostDevice
from grader.judge.launch import Launcher
from grader.judge.messages import Failure
from grader.judge.oracle import Question
from grader.judge.request import CPU, Request
from grader.judge.runner_client import Answer, RunnerClient, Timed, Ungated
from grader.judge.timing import Stopwatch, TooSlow, WrongInTiming, fewest_rounds, rare_counts
from grader.languages import Language
from grader.sandbox.box import BoxMaker

RIGHT = "def solve(x, out, n):\n    out.copy_(2 * x)\n"
ROUNDS, WARM_UP = 3, 2
# One more for the watch's own look.
QUESTIONS = ROUNDS + WARM_UP + 1


class Drawing(HostDevice):
    plan = TimingPlan(rounds=ROUNDS, most_rounds=ROUNDS, control_rounds=ROUNDS, warm_up=WARM_UP)


class Copies:
    def __init__(self) -> None:
        self.staged: list[Question] = []

    def room(self, role: str, like: torch.Tensor) -> torch.Tensor:
        return torch.empty(like.shape, dtype=like.dtype)

    def stage(self, question: Question) -> Question:
        copied = Question(
            *({name: tensor.clone() for name, tensor in part.items()} for part in _parts(question))
        )
        self.staged.append(copied)
        return copied


class Staging(Drawing):
    def __init__(self) -> None:
        self.staging: Copies = Copies()


def _parts(question: Question) -> tuple[dict[str, torch.Tensor], ...]:
    return question.inputs, question.outputs, question.magnitudes


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    seeds: list[int] = []
    real = timing.ask

    def ask(challenge: Challenge, case: Case, seed: int, *places: Any, **more: Any) -> Question:
        seeds.append(seed)
        return real(challenge, case, seed, *places, **more)

    monkeypatch.setattr(timing, "ask", ask)
    return seeds


@pytest.fixture
def launcher(catalogue: Catalogue, boxes: BoxMaker) -> Iterator[Launcher]:
    request = Request(catalogue.load("twice"), Language.TRITON, RIGHT, CPU, bytes(32), [])
    launcher = Launcher(request, HostDevice(), boxes, lambda: None)
    yield launcher
    launcher.close()


def _watch(launcher: Launcher, device: HostDevice) -> Stopwatch:
    request = launcher.request
    return Stopwatch(request.challenge, request.workloads[0], request.seed_key, device, "test")


def test_each_counting_round_has_fresh_data(launcher: Launcher, drawn: list[int]) -> None:
    device = Staging()
    _watch(launcher, device).own(launcher.submission())
    # The warm-up call is one, and another round shows if it queues behind the gate. So does a round with
    # special values.
    assert len(device.staging.staged) == QUESTIONS + 3
    inputs = [question.inputs["x"] for question in device.staging.staged]
    ahead = QUESTIONS - ROUNDS + 2
    assert len(drawn) == len(set(drawn)) == 1 + len(inputs[ahead:])
    assert all(torch.equal(tensor, inputs[0]) for tensor in inputs[:ahead])
    assert not any(torch.equal(one, other) for one, other in pairwise(inputs[ahead - 1 :]))


def test_each_round_has_the_poison_of_its_seed(
    launcher: Launcher, drawn: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[Poison] = []
    real = Arena.reveal

    def reveal(arena: Arena, inputs: Mapping[str, torch.Tensor]) -> None:
        held.append(arena.poison)
        real(arena, inputs)

    monkeypatch.setattr(Arena, "reveal", reveal)
    _watch(launcher, Drawing()).own(launcher.submission())
    fresh = drawn[1:]
    assert held[-len(fresh) :] == [Poison.in_turn(seed) for seed in fresh]
    assert len(set(held)) > 1


def test_a_control_gets_fresh_copies_of_one_question(launcher: Launcher, drawn: list[int]) -> None:
    device = Staging()
    rounds = _watch(launcher, device).control(launcher.control())
    assert len(rounds) == ROUNDS
    assert len(drawn) == 1
    assert len(device.staging.staged) == QUESTIONS
    first = device.staging.staged[0].inputs["x"]
    assert all(
        torch.equal(question.inputs["x"], first) and question.inputs["x"] is not first
        for question in device.staging.staged[1:]
    )


def test_a_control_can_run_first_in_the_submissions_box(launcher: Launcher) -> None:
    rounds = []
    client = launcher.submission(lambda client: rounds.extend(_watch(launcher, Staging()).control(client)))
    assert len(rounds) == ROUNDS
    assert len(_watch(launcher, Staging()).own(client).rounds) == ROUNDS


def test_a_control_gets_fresh_data_if_copies_are_not_possible(launcher: Launcher, drawn: list[int]) -> None:
    """Otherwise its rounds would find in the caches what a submission's do not."""
    _watch(launcher, Drawing()).control(launcher.control())
    assert len(set(drawn)) == QUESTIONS
    assert HostDevice().staging is None


SLOW_BETWEEN = """
import sys, time

class Slow:
    def write(self, text):
        return len(text)

    def flush(self):
        time.sleep(0.2)

sys.stdout = Slow()

def solve(x, out, n):
    out.copy_(2 * x)
"""
SLOW_CALLS = "import time\n\ndef solve(x, out, n):\n    time.sleep(0.2)\n    out.copy_(2 * x)\n"


class Hurried(HostDevice):
    """Has no time for more than the fewest rounds, nor much for those."""

    plan = TimingPlan(
        rounds=ROUNDS, most_rounds=ROUNDS, warm_up=0, seconds=0.0, call_seconds=0.3, between_seconds=0.3
    )


@pytest.mark.parametrize(("source", "in_calls"), [(SLOW_CALLS, True), (SLOW_BETWEEN, False)])
def test_a_submission_that_misses_the_fewest_rounds_is_too_slow(
    catalogue: Catalogue, boxes: BoxMaker, source: str, in_calls: bool
) -> None:
    request = Request(catalogue.load("twice"), Language.TRITON, source, CPU, bytes(32), [])
    launcher = Launcher(request, HostDevice(), boxes, lambda: None)
    try:
        with pytest.raises(TooSlow) as caught:
            _watch(launcher, Hurried()).own(launcher.submission())
        assert (caught.value.in_calls, caught.value.made, caught.value.fewest) == (in_calls, 2, ROUNDS)
        assert len(_watch(launcher, Hurried()).own(launcher.submission(), checked=False).rounds) == ROUNDS
    finally:
        launcher.close()


class LateOnce(RunnerClient):
    """A box whose fourth timed call does not queue behind the gate."""

    calls = 0

    def timed_call(self, *args: Any, gated: bool = True, **options: Any) -> tuple[Timed, Answer]:
        self.calls += 1
        if gated and self.calls == 4:
            raise Ungated
        return super().timed_call(*args, gated=gated, **options)


def test_one_waiting_call_makes_all_rounds_ungated(launcher: Launcher) -> None:
    client = launcher.submission()
    client.__class__ = LateOnce
    own = _watch(launcher, Staging()).own(client)
    assert not own.gated
    assert len(own.rounds) == ROUNDS
    assert all(timed.host == 0.0 for timed in own.rounds)


class Waiting(RunnerClient):
    """A box whose calls behind a closed gate raise, as they wait for something missing."""

    def timed_call(self, *args: Any, gated: bool = True, **options: Any) -> tuple[Timed, Answer]:
        timed, answer = super().timed_call(*args, gated=gated, **options)
        failure = Failure(kind="exception", type="RuntimeError", message="Both events must be completed")
        return timed, replace(answer, failure=failure, waits_left_out=True) if gated else answer


def test_only_cases_decide_that_a_submission_needs_its_waits(launcher: Launcher) -> None:
    """Otherwise a kernel that is wrong in some timed calls could have the noticed ones forgiven."""
    client = launcher.submission()
    client.__class__ = Waiting
    with pytest.raises(WrongInTiming):
        _watch(launcher, Staging()).own(client)
    launcher.needs_open_gate = True
    client = launcher.submission()
    client.__class__ = Waiting
    own = _watch(launcher, Staging()).own(client)
    assert not own.gated
    assert len(own.rounds) == ROUNDS


class Longer(Staging):
    plan = TimingPlan(rounds=2 * ROUNDS, most_rounds=2 * ROUNDS, warm_up=WARM_UP)


def test_outlier_and_special_rounds_are_mixed_in(launcher: Launcher) -> None:
    device = Longer()
    _watch(launcher, device).own(launcher.submission())
    drawn = [question.inputs["x"] for question in device.staging.staged]
    assert sum(bool(((values >= 7.0) & values.isfinite()).any()) for values in drawn) > 0
    assert sum(bool(values.isnan().any()) for values in drawn) == 1
    # Special values have a separate round.
    assert len(drawn) == QUESTIONS + ROUNDS + 3


class Settling(HostDevice):
    plan = TimingPlan(rounds=8, most_rounds=40, warm_up=0, settles=True)


JITTER = [-1e-9, 1e-9, 0.5e-9, -0.5e-9]


@pytest.mark.parametrize(
    ("slower", "first", "made"),
    [
        (lambda number: 0.0, 0, 8),
        (lambda number: 1.2e-3 * (number >= 4), 4, 12),
        (lambda number: 0.4e-3 * number, 32, 40),
    ],
)
def test_rounds_before_the_device_is_warm_do_not_count(
    launcher: Launcher,
    monkeypatch: pytest.MonkeyPatch,
    slower: Callable[[int], float],
    first: int,
    made: int,
) -> None:
    """The earlier half is dropped until both are alike, or no more rounds may be made: even at once, after a
    step within the first eight, and never.
    """
    watch, device = _watch(launcher, Settling()), Settling()
    numbers = iter(range(1000))

    def timed(*_: Any, **__: Any) -> tuple[Timed, float]:
        number = next(numbers)
        return Timed(0.0, 1e-3 * (1 + slower(number)) + JITTER[number % 4], 0.0, float(number)), 0.0

    monkeypatch.setattr(watch, "_round", timed)
    rounds = watch._rounds(
        RunnerClient.__new__(RunnerClient), 8, 40, device.record(), checked=False, gated=True
    )
    assert next(numbers) == made
    assert (rounds[0][0].host, len(rounds)) == (first, 8)


def test_drift_needs_a_significant_and_relevant_difference() -> None:
    steady = [100.0 + number % 3 for number in range(30)]
    assert not timing.drifted(steady, 0.001)
    assert timing.drifted([*steady[:15], *(seconds + 2.0 for seconds in steady[15:])], 0.001)
    assert not timing.drifted([*steady[:15], *(seconds + 2.0 for seconds in steady[15:])], 0.03)
    assert not timing.drifted([*steady[:15], *(seconds + 0.5 for seconds in steady[15:])], 0.001)


def test_every_outlier_recipe_occurs_in_the_fewest_rounds(launcher: Launcher, drawn: list[int]) -> None:
    assert rare_counts(12, 0) == []
    assert rare_counts(12, 2) == [4, 3]
    plan = TimingPlan(rounds=12)
    assert [fewest_rounds(plan, recipes) for recipes in (0, 2, 3)] == [12, 12, 18]
    assert fewest_rounds(plan, 1, ranked=False) == 18
    assert rare_counts(12, 3) == [3, 3, 3], "no fewer than three of each"
    assert rare_counts(2, 4) == [1, 1, 0, 0], "where there are rounds for them"
    own = _watch(launcher, HostDevice()).own(launcher.submission())
    names = own.drawn[: HostDevice.plan.rounds]
    assert sum("outliers in x" in name for name in names) == 3


@pytest.mark.parametrize(("gate", "asked"), [(1e-3, [1, 1, 1]), (0.3e-3, [1, 0, 0])])
def test_special_rounds_do_not_depend_on_earlier_rounds(
    launcher: Launcher, gate: float, asked: list[int]
) -> None:
    """Otherwise a submission that causes more of them knows their questions. Short ones have no rank."""
    rounds: list[tuple[Timed, float]] = []
    questions = _watch(launcher, HostDevice())._questions(8, rounds)
    for number in asked:
        series: list[tuple[str, bool]] = []
        while sum(counts for _, counts in series) < 8:
            case, counts = next(questions)
            series.append((case.name, counts))
            rounds += [(Timed(0.0, gate, 0.0, 0.0), 0.0)] * counts
        assert sum("outliers in x" in name for name, _ in series) == 4
        specials = [name for name, counts in series if not counts]
        assert all("nan" in name for name in specials)
        # A coin adds one, so that a submission that has seen the obligatory one does not know that none is
        # left.
        assert len(specials) in ({number, number + 1} if number else {0})


def test_special_rounds_are_repeated_if_no_round_counted(launcher: Launcher) -> None:
    """A GPU that is slowed down lets none of the first rounds count."""
    questions = _watch(launcher, HostDevice())._questions(8, [])
    asked = [next(questions) for _ in range(30)]
    assert sum(not counts for _, counts in asked) >= 2
