"""What a report refuses to hold, and the sentences that it makes of what it holds."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from grader.languages import Language
from grader.schemas.hardware import ClockEvent, GpuState, KernelUsage, Spread, Witness
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Flag,
    HiddenCases,
    Mismatch,
    Report,
    Score,
    Verdict,
    WorkloadReport,
    WorstElement,
    hidden_cases,
)


def timed(**values: Any) -> WorkloadReport:
    given: dict[str, Any] = {
        "name": "large",
        "sizes": {"n": 1 << 27},
        "ranked": True,
        "time_us": 500.0,
        "ci_us": (499.0, 501.0),
        "rounds": 60,
    }
    return WorkloadReport(**(given | values))


def judged(*cases: CaseReport, verdict: Verdict = Verdict.WRONG_ANSWER, **values: Any) -> Report:
    return Report(
        verdict=verdict,
        challenge="relu",
        version=1,
        language=Language.TRITON,
        device="cpu",
        cases=list(cases),
        **values,
    )


def test_an_ordinary_time_has_no_remarks() -> None:
    assert timed(roofline_us=410.0, fixed_us=148.0, host_us=12.0).remarks == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"gated": False}, ["Not gated", "the time includes launching and waiting"]),
        (
            {"ranked": False, "roofline_us": 38.25},
            ["Shown, not ranked", "takes 38.2 µs here", "below 400 µs"],
        ),
        ({"ranked": False}, ["Shown, not ranked", "unknown"]),
        ({"charged_us": 12.34}, ["12.3 µs were added", "outside the gate"]),
        (
            {"untimed_baselines": {"compile": "the baseline failed: RuntimeError: no sum of bool."}},
            ["PyTorch (compile) could not be timed: the baseline failed: RuntimeError: no sum of bool."],
        ),
    ],
)
def test_unusual_timings_get_a_remark(values: dict[str, Any], words: list[str]) -> None:
    (remark,) = timed(**values).remarks
    for part in words:
        assert part in remark
    assert remark.endswith(".")


def test_remarks_add_up() -> None:
    assert len(timed(gated=False, ranked=False, charged_us=1.0).remarks) == 3


def test_library_operations_need_their_flag() -> None:
    given: dict[str, Any] = {
        "verdict": Verdict.RUNTIME_ERROR,
        "challenge": "relu",
        "version": 1,
        "language": Language.TRITON,
        "device": "cpu",
        "library_ops": ["aten.relu"],
    }
    with pytest.raises(ValidationError, match="without the flag"):
        Report(**given)
    assert Report(**given, flags=[Flag.LIBRARY_KERNEL]).library_ops == ["aten.relu"]


def test_a_gpu_is_reported_in_one_line() -> None:
    state = GpuState(
        samples=60,
        sm_mhz=Spread(low=1200, median=1755, high=1980),
        memory_mhz=Spread(low=3201, median=3201, high=3201),
        power_w=Spread(low=300.4, median=500.0, high=699.6),
        temperature_c=70,
        events=[ClockEvent.POWER_CAP, ClockEvent.THERMAL_SLOWDOWN],
        repeated=2,
    )
    assert state.sentence == (
        "SM 1,755 MHz (1,200 to 1,980), memory 3,201 MHz, 500 W (300 to 700), up to 70 °C; clocks were limited "
        "by power cap, thermal slowdown; 2 rounds repeated because heat or hardware slowed it"
    )
    assert state.slowed
    assert not GpuState(samples=1, events=[ClockEvent.POWER_CAP]).slowed
    assert GpuState(samples=1).sentence == "it does not report its clocks"


def test_a_spread_must_be_in_order() -> None:
    with pytest.raises(ValidationError, match="not in order"):
        Spread(low=3, median=2, high=4)


def test_old_reports_can_be_read() -> None:
    old = timed().model_dump(mode="json")
    for name in ("roofline_us", "fixed_us", "gpu", "cost"):
        del old[name]
    assert WorkloadReport.model_validate(old).remarks == []


def test_a_spilling_kernel_is_marked() -> None:
    assert KernelUsage(name="k", registers=255, spill_loads=4).spills
    assert not KernelUsage(name="k", registers=255, stack_bytes=4, said_by=Witness.RUNNER).spills


PASSED = CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED, seed=1, sizes={"n": 8})


def hidden_case(verdict: CaseVerdict) -> CaseReport:
    """A case with data in every place that a submission could fill."""
    element = WorstElement(index=[3], got="1", expected="424242", error=2.0, allowed=0.1)
    mismatch = Mismatch(argument="out", kind="value", index=[3], wrong=1, total=9, worst=[element])
    return CaseReport(
        name="secret",
        category="prime",
        verdict=verdict,
        seed=424242,
        sizes={"n": 424242},
        detail="n is 424242",
        hint="look at 424242",
        mismatch=mismatch if verdict is CaseVerdict.WRONG_ANSWER else None,
        output="424242",
        seconds=4.24242,
        hidden=True,
    )


def test_authors_see_only_the_number_of_passed_hidden_cases() -> None:
    """However they failed, the report is the same to the last letter."""
    told = {
        judged(
            PASSED,
            hidden_case(kind),
            verdict=verdict,
            breakdown_s={"cases": 0.5, "hidden_cases": number + 0.1, "total": number + 0.6},
        )
        .redacted()
        .model_dump_json()
        # In older reports, the verdict gives the kind of failure.
        for kind in CaseVerdict
        if kind is not CaseVerdict.ACCEPTED
        for number, verdict in enumerate([Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT])
    }
    (one,) = told
    assert "4242" not in one
    assert "secret" not in one
    report = Report.model_validate_json(one)
    assert report.verdict is Verdict.WRONG_ANSWER
    assert report.cases == [PASSED]
    assert report.hidden == HiddenCases(passed=0, total=1)
    assert report.breakdown_s == {"cases": 0.5}
    assert report.meaning == "Every public case passed, but at least one hidden case failed."
    assert report.redacted() == report


def test_redaction_removes_case_seconds_from_old_reports() -> None:
    old = judged(
        PASSED, hidden_case(CaseVerdict.TIME_LIMIT), breakdown_s={"box": 0.3, "cases": 13.22, "total": 14.0}
    )
    assert old.redacted().breakdown_s == {"box": 0.3}


def test_redaction_removes_the_seconds_of_hidden_cases() -> None:
    spent = {"cases": 0.5, "hidden_cases": 4.2424, "total": 4.9}
    ended = judged(PASSED, verdict=Verdict.MEMORY_LIMIT, breakdown_s=spent)
    assert ended.redacted().breakdown_s == {"cases": 0.5}


def test_a_public_failure_keeps_its_verdict() -> None:
    public = CaseReport(name="huge", category="huge", verdict=CaseVerdict.TIME_LIMIT, detail="too long")
    report = judged(public, hidden_case(CaseVerdict.RUNTIME_ERROR), verdict=Verdict.TIME_LIMIT)
    assert report.redacted().verdict is Verdict.TIME_LIMIT
    assert report.redacted().hidden == HiddenCases(passed=0, total=1)


def test_failed_hidden_categories_are_named_if_the_challenge_allows_it() -> None:
    cases = [hidden_case(CaseVerdict.TIME_LIMIT), hidden_case(CaseVerdict.WRONG_ANSWER)]
    assert hidden_cases(cases, named=False) == HiddenCases(passed=0, total=2)
    named = hidden_cases(cases, named=True)
    assert named == HiddenCases(passed=0, total=2, failed_categories=["prime"])
    assert named.sentence == "0 of 2 hidden cases passed. Failed in: prime."
    report = judged(PASSED, *cases).model_copy(update={"hidden": named})
    assert report.redacted().hidden == named


UNKNOWN: dict[str, Any] = {"time_us": 0.1, "ci_us": (0.1, 20064.6), "speedup": 427229.0}


def test_an_unknown_time_of_an_old_report_is_none() -> None:
    report = judged(
        PASSED, verdict=Verdict.ACCEPTED, workloads=[timed()], score=Score(time_us=500.0, speedup=2.0)
    )
    stored = report.model_dump(mode="json")
    assert Report.model_validate(stored) == report
    stored["workloads"][0] |= {**UNKNOWN, "ci_us": [0.1, 20064.6]}
    read = Report.model_validate(stored)
    assert (read.workloads[0].time_us, read.workloads[0].speedup) == (None, None)
    assert (read.score.time_us, read.score.speedup) == (None, None)
    assert "Too short to measure here" in " ".join(read.workloads[0].remarks)


def test_an_unknown_time_has_no_speedup() -> None:
    with pytest.raises(ValidationError, match="unknown"):
        timed(time_us=None, speedup=2.0)
