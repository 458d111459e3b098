"""A box that keeps the judge waiting after a wrong round is ended, and the verdict stays."""

from __future__ import annotations

import pytest

from grader import limits
from grader.challenge.catalogue import find_catalogue
from grader.judge.device import TimingPlan
from grader.judge.gate import HostGate
from grader.judge.host_device import HostDevice
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import Report, Verdict
from tests.judge.conftest import CATALOGUE

# The first call at the workload's size is not timed.
SOURCE = """
import gc, os, time

calls = []

def solve(x, out, n):
    out.copy_(2 * x)
    calls.append(n)
    if calls.count(4096) == 2:
        {does}
"""
ENDS = "os._exit(3)"
HANGS = "time.sleep(60)"
# Says that it returned without having set the gate's done word.
LIES = """for found in gc.get_objects():
            if type(found).__name__ == "Flags":
                type(found).set_done = lambda self, number: None"""


class Stuck(HostGate):
    """Something in the judge waits for the runner until it is gone."""

    asked = 0

    def give_up(self) -> bool:
        Stuck.asked += 1
        return False


class Device(HostDevice):
    plan = TimingPlan(rounds=3, most_rounds=3, control_rounds=3, warm_up=1)

    def make_gate(self) -> HostGate:
        return Stuck()


def _judge(does: str, boxes: BoxMaker) -> Report:
    Stuck.asked = 0
    challenge = find_catalogue(CATALOGUE).load("twice")
    request = Request(
        challenge=challenge,
        language=Language.TRITON,
        source=SOURCE.format(does=does),
        device=CPU,
        seed_key=bytes(32),
        cases=challenge.cases[:1],
        baselines={workload.name: {"eager": 1.0} for workload in challenge.manifest.workloads},
    )
    return Session(request, Device(), boxes, lambda _: None, lambda: None).run().report


@pytest.mark.parametrize(
    ("does", "verdict", "words"),
    [
        (ENDS, Verdict.RUNTIME_ERROR, "exit"),
        (HANGS, Verdict.TIME_LIMIT, "did not return"),
        (LIES, Verdict.RUNTIME_ERROR, "while solve was timed"),
    ],
    ids=["ends", "hangs", "lies"],
)
def test_a_stuck_box_does_not_change_the_verdict(
    does: str, verdict: Verdict, words: str, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects a submission's verdict, and those who wait, against a judge that waits for a dead runner."""
    monkeypatch.setattr(limits, "IDLE_PATIENCE", 0.5)
    monkeypatch.setattr(limits, "IDLE_SHARE", 0.5)
    report = _judge(does, boxes)
    assert report.verdict is verdict, report
    assert words in report.cases[-1].detail.lower()
    assert Stuck.asked == 2, "once, and once more when its box is gone: it is judged once"


def test_no_box_is_released_if_nothing_went_wrong(boxes: BoxMaker) -> None:
    report = _judge("pass", boxes)
    assert report.verdict is Verdict.ACCEPTED
    assert Stuck.asked == 0
