"""A doubtful result is measured once more, in a new box, and only then counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.judge import timekeeper
from grader.judge.device import Noise, TimingPlan
from grader.judge.host_device import HostDevice
from grader.judge.request import CPU, Request
from grader.judge.rule import ControlRound, Measured, Own, settle
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker, BoxPurpose
from grader.sandbox.watched import WatchedBoxes
from grader.schemas.report import Flag, Report, Verdict
from grader.scoring import Estimate
from tests.faults.harness import ROOT
from tests.judge.plenty import Plenty

RIGHT = "def solve(x, out, n):\n    out.copy_(2 * x)\n"
# Distinguishes a box that begins with the timed size from one that begins with the cases.
RIGHT_AT_FIRST = """
began_with = []

def solve(x, out, n):
    began_with.append(n)
    out.copy_((2 if began_with[0] < 1000 else 3) * x)
"""
CHARGED_S = 1e-3
# The assumed cost of a round, whatever it is on this host: the limit of drift depends on it.
ROUND_S = 5e-3
JudgeBy = Callable[..., tuple[Report, list[BoxPurpose]]]


class Confirming(HostDevice):
    plan = TimingPlan(rounds=3, most_rounds=3, control_rounds=3, warm_up=1)
    confirms = True


class Rule:
    """The rule, but it charges plainly only the measurements in ``charged``, and the control drifts by
    ``drifts`` (seconds), then not at all. Each takes a millisecond longer than the one before.
    """

    def __init__(self, *charged: bool, drifts: Sequence[float] = ()) -> None:
        self.charged, self.drifts, self.known = list(charged), list(drifts), list[Measured]()
        self.firsts: list[Sequence[ControlRound]] = []

    def __call__(
        self,
        own: Own,
        first: Sequence[ControlRound],
        second: Sequence[ControlRound],
        noise: Noise,
        usual: None,
    ) -> Measured:
        charged = CHARGED_S if self.charged and self.charged.pop(0) else 0.0
        self.firsts.append(first)
        seconds = 1e-3 * (1 + len(self.known))
        found = replace(
            settle(own, first, second, noise),
            time=Estimate(seconds, (0.9 * seconds, 1.1 * seconds)),
            charged=charged,
            noise=CHARGED_S / 4,
            fixed=ROUND_S,
            drift=self.drifts.pop(0) if self.drifts else 0.0,
            disturbed=0.0,
        )
        self.known.append(found)
        return found


@pytest.fixture
def judge_by(boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch) -> JudgeBy:
    """Judges by a rule; the report, and the purpose of each started box."""
    return partial(_judge, monkeypatch, boxes)


def _judge(
    monkeypatch: pytest.MonkeyPatch, maker: BoxMaker, rule: Rule, source: str = RIGHT, frozen: bool = True
) -> tuple[Report, list[BoxPurpose]]:
    monkeypatch.setattr(timekeeper, "settle", rule)
    challenge = find_catalogue(ROOT / "tests" / "catalogue").load("twice")
    purposes: list[BoxPurpose] = []
    boxes = WatchedBoxes(maker, lambda purpose, _seconds, _there: purposes.append(purpose))
    request = Request(
        challenge=challenge,
        language=Language.TRITON,
        source=source,
        device=CPU,
        seed_key=bytes(32),
        cases=challenge.cases,
        baselines={workload.name: {"eager": 1.0} for workload in challenge.manifest.workloads}
        if frozen
        else {},
    )
    report = Session(request, Confirming(), boxes, lambda _: None, lambda: None).run().report
    return report, purposes


def test_a_brief_disturbance_is_not_charged(judge_by: JudgeBy) -> None:
    rule = Rule(True)
    report, boxes = judge_by(rule)
    assert report.verdict is Verdict.ACCEPTED
    assert boxes.count(BoxPurpose.RUN) == 2
    assert [measured.charged > 0 for measured in rule.known] == [True, False]
    (workload,) = report.workloads
    assert workload.charged_us == 0
    # The second alone: nothing of the first is in the time.
    assert workload.time_us == pytest.approx(rule.known[1].time.value * 1e6)
    assert Flag.WORK_OUTSIDE_GATE not in report.flags


def test_the_control_before_the_submission_is_reused(judge_by: JudgeBy) -> None:
    """The first may have left something behind that slows both later ones."""
    rule = Rule(True)
    judge_by(rule)
    assert len(rule.firsts) == 2
    assert rule.firsts[0] is rule.firsts[1]


def test_a_charge_found_twice_counts(judge_by: JudgeBy) -> None:
    report, boxes = judge_by(Rule(True, True))
    assert boxes.count(BoxPurpose.RUN) == 2
    assert report.workloads[0].charged_us == pytest.approx(CHARGED_S * 1e6)
    assert Flag.WORK_OUTSIDE_GATE in report.flags


def test_disagreeing_control_halves_are_measured_again(judge_by: JudgeBy) -> None:
    rule = Rule(drifts=[0.2e-3, 0.2e-3])
    report, boxes = judge_by(rule)
    assert boxes.count(BoxPurpose.RUN) == 2
    assert [measured.doubtful for measured in rule.known] == [True, True], "but not a third time"
    assert report.workloads[0].time_us == pytest.approx(rule.known[1].time.value * 1e6)
    assert Flag.WORK_OUTSIDE_GATE not in report.flags


def test_an_uncharged_time_is_measured_once(judge_by: JudgeBy) -> None:
    _, boxes = judge_by(Rule())
    assert boxes == [BoxPurpose.CONTROL, BoxPurpose.RUN]


def test_wrong_answers_of_the_second_measurement_are_wrong(judge_by: JudgeBy) -> None:
    """A box that begins with the workload knows that it is measured again; its answers are still compared."""
    report, boxes = judge_by(Rule(True), RIGHT_AT_FIRST)
    assert boxes.count(BoxPurpose.RUN) == 2
    assert report.verdict is Verdict.WRONG_ANSWER
    assert not report.workloads


def test_a_baseline_is_not_frozen_with_a_disturbance_in_it(judge_by: JudgeBy) -> None:
    rule = Rule(False, True, False)
    report, _ = judge_by(rule, frozen=False)
    assert [measured.charged > 0 for measured in rule.known] == [False, True, False]
    assert report.workloads[0].baselines_us == {
        "eager": pytest.approx(rule.known[2].time.value * 1e6, abs=1e-3)
    }


def test_a_shared_host_measures_once() -> None:
    assert not HostDevice().confirms


class Crowded(Plenty):
    """Lacks memory for the second size; ``alone``: not if nothing else used it."""

    def __init__(self, *, alone: bool) -> None:
        self.alone = alone

    def shortage(self, challenge: Challenge, workload: Workload) -> str:
        return "Not timed at n = 8192." if workload.name == "large" else ""

    def fits_alone(self, challenge: Challenge, workload: Workload) -> bool:
        return self.alone


@pytest.mark.parametrize("alone", [True, False])
def test_a_workload_lost_to_lack_of_memory_means_no_rank(
    boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    """Their mean is another than everybody else's. On a GPU that is too small, everybody's is."""
    monkeypatch.setattr(timekeeper, "settle", Rule())
    challenge = find_catalogue(ROOT / "tests" / "catalogue").load("twice")
    sizes = [Workload(name=name, sizes={"n": n}, on="cpu") for name, n in (("small", 4096), ("large", 8192))]
    frozen = {workload.name: {"eager": 1.0} for workload in sizes}
    request = Request(
        challenge, Language.TRITON, RIGHT, CPU, bytes(32), challenge.cases, baselines=frozen, timed=sizes
    )
    device = Confirming()
    device.memory_plan = Crowded(alone=alone)
    report = Session(request, device, boxes, lambda _: None, lambda: None).run().report
    assert report.detail == "Not timed at n = 8192."
    assert [workload.name for workload in report.workloads] == ["small"]
    assert (report.score.time_us is None) == alone
    assert ("'large' was not timed: something else held the GPU's memory" in report.score.unranked) == alone
