"""A run: the public cases alone, in real boxes, by the judge that ranks."""

from __future__ import annotations

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.host_device import HostDevice
from grader.judge.job import JudgingProgress, Outcome
from grader.judge.process import JudgeProcess
from grader.judge.request import Request
from grader.judge.session import PUBLIC_ONLY, Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker, BoxPurpose
from grader.sandbox.watched import WatchedBoxes
from grader.schemas.report import CaseVerdict, Verdict
from grader.schemas.submission import State
from tests.judge.kernels import HEAD, RIGHT, with_solve
from tests.judge.test_hidden_cases import WRONG_WHERE_HIDDEN
from tests.judge.test_process import job


def judged(
    catalogue: Catalogue, boxes: BoxMaker, source: str, heard: list[JudgingProgress] | None = None
) -> Outcome:
    challenge = catalogue.load("twice")
    request = Request(
        challenge=challenge,
        language=Language.TRITON,
        source=source,
        device="cpu",
        seed_key=bytes(32),
        cases=[*challenge.cases, *challenge.hidden_cases],
        timing=True,
        public_only=True,
    )
    told = heard.append if heard is not None else lambda _: None
    return Session(request, HostDevice(), boxes, told, interrupt=lambda: None).run()


def test_a_run_has_no_hidden_case_time_baseline_or_control(catalogue: Catalogue, boxes: BoxMaker) -> None:
    heard: list[JudgingProgress] = []
    purposes: list[BoxPurpose] = []
    noted = WatchedBoxes(boxes, lambda purpose, _seconds, _there: purposes.append(purpose))
    outcome = judged(catalogue, noted, RIGHT, heard)
    report = outcome.report
    assert report.verdict is Verdict.ACCEPTED
    assert [case.hidden for case in report.cases] == [False] * 5
    assert (report.workloads, outcome.baselines) == ([], {})
    assert (report.score.passed, report.score.total, report.score.time_us) == (5, 5, None)
    assert report.detail == PUBLIC_ONLY
    assert {progress.state for progress in heard} == {State.TESTING}
    assert {progress.progress.total for progress in heard} == {5}
    assert purposes == [BoxPurpose.RUN]
    assert not {"control", "timing", "baselines", "survey"} & set(report.breakdown_s)


def test_a_failing_run_reports_seed_and_element(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = judged(catalogue, boxes, with_solve("    out.copy_(3 * x)")).report
    assert report.verdict is Verdict.WRONG_ANSWER
    failing = [case for case in report.cases if case.verdict is CaseVerdict.WRONG_ANSWER]
    assert failing
    assert all(case.seed is not None and case.mismatch is not None for case in failing)
    assert report.detail == ""


def test_a_run_passes_mistakes_that_only_hidden_cases_catch(catalogue: Catalogue, boxes: BoxMaker) -> None:
    assert judged(catalogue, boxes, WRONG_WHERE_HIDDEN).report.verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("source", [RIGHT, HEAD.replace("import torch", "import no_such_thing")])
def test_the_judge_process_accepts_a_run(source: str) -> None:
    wanted = job(source).model_copy(update={"public_only": True})
    with JudgeProcess("local", spare_boxes=0) as process:
        report = process.run(wanted, lambda _: None, lambda: False).report
    assert report.workloads == []
    assert report.score.total == 5
