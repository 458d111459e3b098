"""Hidden cases come last, and a rule of cases holds in timed rounds; in plain boxes, with real attacks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from itertools import pairwise

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.assembly import verdict_of
from grader.judge.at_home import judge_at_home
from grader.judge.host_device import HostDevice
from grader.judge.job import JudgingProgress
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import CaseReport, CaseVerdict, HiddenCases, Report, Verdict
from grader.schemas.submission import State
from tests.hostile.range import DEFENDED, Range
from tests.hostile.suite import load
from tests.judge.conftest import Judge
from tests.judge.kernels import HEAD, RIGHT

# Right except at the size of the hidden case.
WRONG_WHERE_HIDDEN = (
    HEAD
    + """
def solve(x, out, n):
    if n and n != 333:
        twice[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
"""
)


def test_hidden_cases_run_after_timing(catalogue: Catalogue, boxes: BoxMaker) -> None:
    heard: list[JudgingProgress] = []
    report = judge_at_home(
        catalogue.load("twice"), RIGHT, Language.TRITON, boxes, device=CPU, on_progress=heard.append
    )
    assert report.verdict is Verdict.ACCEPTED, report
    assert [case.hidden for case in report.cases] == [False] * 5 + [True]
    assert report.hidden == HiddenCases(passed=1, total=1)
    labels = [progress.progress.label for progress in heard if progress.state is State.TIMING]
    assert labels[:2] == ["Timing 1 of 1 workload: small", "Testing hidden cases"]


@pytest.mark.parametrize("timing", [True, False])
def test_progress_counts_steadily_and_names_no_hidden_case(
    catalogue: Catalogue, boxes: BoxMaker, timing: bool
) -> None:
    heard: list[JudgingProgress] = []
    challenge = catalogue.load("twice")
    judge_at_home(
        challenge,
        WRONG_WHERE_HIDDEN,
        Language.TRITON,
        boxes,
        device=CPU,
        timing=timing,
        on_progress=heard.append,
    )
    told = [progress.progress for progress in heard]
    # Five public cases, one workload if it is timed, and the hidden ones as one.
    assert {progress.total for progress in told} == {7 if timing else 6}
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert [progress.label.partition(":")[0] for progress in told] == [
        "Loading",
        *(f"Testing {number} of 5 public cases" for number in range(1, 6)),
        *(["Timing 1 of 1 workload"] if timing else []),
        "Testing hidden cases",
    ]
    assert not any("secret" in progress.label for progress in told)


class Moments:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("took", "told"), [(0.0, 0.1), (0.1, 0.1), (0.11, 0.2), (12.73, 12.8), (13.0, 25.6), (80.0, 102.4)]
)
@pytest.mark.parametrize("way_out", [None, RuntimeError("it ended")])
def test_hidden_case_time_is_rounded_up_to_steps(
    took: float, told: float, way_out: Exception | None, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = Moments()
    monkeypatch.setattr("grader.judge.session.time", moments)
    asked: list[float] = []
    session = session_of(catalogue, conceals=True, interrupt=lambda: asked.append(moments.now))
    with contextlib.suppress(RuntimeError), session._in_steps():
        moments.sleep(took)
        if way_out is not None:
            raise way_out
    assert moments.now == pytest.approx(told)
    # A cancellation does not wait for it.
    assert all(later - sooner < 0.1 for sooner, later in pairwise(asked))


def test_at_home_hidden_cases_add_no_waiting(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = Moments()
    monkeypatch.setattr("grader.judge.session.time", moments)
    with session_of(catalogue, conceals=False)._in_steps():
        moments.sleep(0.3)
    assert moments.now == 0.3


def session_of(catalogue: Catalogue, conceals: bool, interrupt: Callable[[], None] = lambda: None) -> Session:
    challenge = catalogue.load("twice")
    cases = [*challenge.cases, *challenge.hidden_cases]
    request = Request(challenge, Language.TRITON, RIGHT, CPU, b"key", cases, conceals=conceals)
    return Session(request, HostDevice(), LocalBoxes(), lambda _: None, interrupt)


@pytest.mark.parametrize("kind", [verdict for verdict in CaseVerdict if verdict is not CaseVerdict.ACCEPTED])
def test_the_verdict_hides_how_hidden_cases_fail(kind: CaseVerdict) -> None:
    passed = CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED)
    hidden = CaseReport(name="secret", category="odd", verdict=kind, detail="chosen", hidden=True)
    assert verdict_of([passed, hidden]) is Verdict.WRONG_ANSWER
    public = CaseReport(name="huge", category="huge", verdict=CaseVerdict.TIME_LIMIT, detail="too long")
    # As if a timed call goes wrong: public findings come later.
    assert verdict_of([passed, hidden, public]) is Verdict.TIME_LIMIT


@pytest.mark.parametrize("timing", [True, False])
def test_failing_a_hidden_case_is_wrong_and_has_no_time(judge: Judge, timing: bool) -> None:
    report: Report = judge(WRONG_WHERE_HIDDEN, timing=timing)
    assert report.verdict is Verdict.WRONG_ANSWER
    assert [case.verdict.value for case in report.cases] == ["accepted"] * 5 + ["wrong_answer"]
    assert report.workloads == []
    assert (report.score.passed, report.score.total) == (5, 6)
    assert report.hidden == HiddenCases(passed=0, total=1)
    assert report.fails_only_hidden


@pytest.mark.parametrize(
    "name",
    [
        "hidden_case_kinds",
        "hidden_case_raised",
        "hidden_case_seconds",
        "hidden_case_in_names",
        "input_as_scratch",
    ],
)
def test_an_attack_that_once_got_through_is_stopped(name: str, boxes: BoxMaker) -> None:
    (entry,) = load((name,))
    finding = Range(boxes).judge(entry)
    assert finding.outcome == DEFENDED, finding
