"""A call is limited by its box's processor time: the clock depends on the host's other work."""

from __future__ import annotations

import pytest

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.device_kinds import CPU
from grader.judge.at_home import judge_at_home
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseVerdict, Language, Report, Verdict
from tests.judge.conftest import Judge

# The tests' catalogue gives a case 1.5 s.
RIGHT = "import time\n\ncalls = 0\n\n\ndef solve(x, out, n):\n    {before}\n    out.copy_(2 * x)\n"
LATE = "time.sleep(1.6)"


def late_in(call: int) -> str:
    before = f"global calls\n    calls += 1\n    if calls == {call}:\n        {LATE}"
    return RIGHT.format(before=before)


def last(report: Report) -> tuple[CaseVerdict, str, str]:
    case = report.cases[-1]
    return case.verdict, case.detail, case.hint


def test_a_call_slowed_by_other_processes_is_accepted(judge: Judge) -> None:
    report = judge(RIGHT.format(before=LATE), case="one")
    assert report.verdict is Verdict.ACCEPTED, last(report)


def test_a_timed_call_slowed_by_other_processes_is_accepted(judge: Judge) -> None:
    """Protects students against a time limit caused by a busy host."""
    public = len(judge(RIGHT.format(before="pass")).cases)
    report = judge(late_in(public + 4), timing=True)
    assert report.verdict is Verdict.ACCEPTED, last(report)


def test_a_sleeping_call_is_told_that_it_slept(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IDLE_PATIENCE", 0.5)
    monkeypatch.setattr(limits, "IDLE_SHARE", 0.5)
    verdict, detail, hint = last(judge(RIGHT.format(before="time.sleep(600)"), case="one"))
    assert verdict is CaseVerdict.TIME_LIMIT
    assert "s of processor time, while solve ran" in detail
    assert "waited or slept" in hint


def test_a_box_without_time_left_gets_none(
    catalogue: Catalogue, local_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BOX_WALL_SECONDS", 0.01)
    source = RIGHT.format(before=LATE)
    report = judge_at_home(
        catalogue.load("twice"), source, Language.TRITON, local_boxes, device=CPU, case="one", timing=False
    )
    verdict, detail, _ = last(report)
    assert (verdict, detail) == (
        CaseVerdict.TIME_LIMIT,
        "Judging it took longer than any submission may take.",
    )


def test_all_boxes_together_have_a_limit(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if each call of each box keeps within its own."""
    monkeypatch.setattr(limits, "JUDGING_CLOCK_SECONDS", 0.3)
    report = judge(RIGHT.format(before="time.sleep(0.5)"))
    assert (report.verdict, report.cases) == (Verdict.TIME_LIMIT, [])
    assert "minutes in all" in report.detail


def test_an_endless_call_ends_the_judging(judge: Judge) -> None:
    """Protects those who wait against an endless loop that takes the whole limit for each case."""
    first, *rest = judge("def solve(x, out, n):\n    while True:\n        pass\n").cases
    assert first.verdict is CaseVerdict.TIME_LIMIT
    assert "1.5 s of processor time" in first.detail
    assert rest
    assert {case.verdict for case in rest} == {CaseVerdict.NOT_RUN}
    assert f"'{first.name}' did not end" in rest[0].detail


def test_loading_has_a_time_limit(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects workers against sources that never finish loading, and students against busy hosts."""
    monkeypatch.setattr(limits, "LOAD_SECONDS", 0.2)
    late = judge(f"import time\n{LATE}\n" + RIGHT.format(before="pass"), case="one")
    assert late.verdict is Verdict.TIME_LIMIT, "0.6 s by the clock, and next to no processor time"
    monkeypatch.setattr(limits, "IDLE_PATIENCE", 100.0)
    assert (
        judge(f"import time\n{LATE}\n" + RIGHT.format(before="pass"), case="one").verdict is Verdict.ACCEPTED
    )
    endless = judge("while True:\n    pass\n")
    assert endless.verdict is Verdict.TIME_LIMIT
    assert "0.2 s of processor time while the source was loaded" in endless.detail
    assert "top level" in endless.hint
