"""Hidden cases come last of all, and a rule of cases holds in timed rounds; in plain boxes, with real attacks."""

from __future__ import annotations

import pytest

from grader.challenge.course import Course
from grader.judge.at_home import judge_at_home
from grader.judge.job import Progress
from grader.sandbox.box import BoxMaker
from grader.schemas.report import Language, Report, Verdict
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


def test_they_come_after_timing(course: Course, boxes: BoxMaker) -> None:
    heard: list[Progress] = []
    report = judge_at_home(course.load("twice"), RIGHT, Language.TRITON, boxes, on_progress=heard.append)
    assert report.verdict is Verdict.ACCEPTED, report
    assert [case.hidden for case in report.cases] == [False] * 5 + [True]
    assert "hidden cases" in [it.progress.label for it in heard if it.state is State.TIMING]


@pytest.mark.parametrize("timing", [True, False])
def test_who_fails_them_is_wrong_and_has_no_time(judge: Judge, timing: bool) -> None:
    report: Report = judge(WRONG_WHERE_HIDDEN, timing=timing)
    assert report.verdict is Verdict.WRONG_ANSWER
    assert [case.verdict.value for case in report.cases] == ["accepted"] * 5 + ["wrong_answer"]
    assert report.workloads == []
    assert (report.score.passed, report.score.total) == (5, 6)


@pytest.mark.parametrize("name", ["hidden_case_raised", "hidden_case_in_names", "input_as_scratch"])
def test_an_attack_that_once_got_through_does_not(name: str, boxes: BoxMaker) -> None:
    (entry,) = load((name,))
    finding = Range(boxes).judge(entry)
    assert finding.outcome == DEFENDED, finding
