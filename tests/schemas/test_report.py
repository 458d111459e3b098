"""What a report refuses to hold, and the sentences that it makes of what it holds."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from grader.schemas.hardware import ClockEvent, GpuState, KernelUsage, Spread, Witness
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Flag,
    Language,
    Mismatch,
    Report,
    Verdict,
    WorkloadReport,
    WorstElement,
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


def judged(case: CaseReport) -> Report:
    return Report(
        verdict=Verdict.WRONG_ANSWER,
        challenge="relu",
        version=1,
        language=Language.TRITON,
        device="cpu",
        cases=[case],
    )


def test_an_ordinary_time_has_no_remarks() -> None:
    assert timed(roofline_us=410.0, fixed_us=148.0, host_us=12.0).remarks == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"gated": False}, ["Not gated", "pays for its own launching and waiting"]),
        (
            {"ranked": False, "roofline_us": 38.25},
            ["Shown, not ranked", "takes 38.2 µs here", "below 400 µs"],
        ),
        ({"ranked": False}, ["Shown, not ranked", "not known"]),
        ({"charged_us": 12.34}, ["12.3 µs were added", "outside the gate"]),
    ],
)
def test_what_is_out_of_the_ordinary_is_said(values: dict[str, Any], words: list[str]) -> None:
    (remark,) = timed(**values).remarks
    for part in words:
        assert part in remark
    assert remark.endswith(".")


def test_remarks_add_up() -> None:
    assert len(timed(gated=False, ranked=False, charged_us=1.0).remarks) == 3


def test_operations_of_a_library_need_their_flag() -> None:
    given: dict[str, Any] = {
        "verdict": Verdict.RUNTIME_ERROR,
        "challenge": "relu",
        "version": 1,
        "language": Language.TRITON,
        "device": "cpu",
        "library_ops": ["aten.relu"],
    }
    with pytest.raises(ValidationError, match="no flag"):
        Report(**given)
    assert Report(**given, flags=[Flag.LIBRARY_KERNEL]).library_ops == ["aten.relu"]


def test_a_gpu_is_told_in_one_line() -> None:
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
        "SM 1,755 MHz (1,200 to 1,980), memory 3,201 MHz, 500 W (300 to 700), up to 70 °C; held below its highest "
        "clocks by power cap, thermal slowdown; 2 rounds made again, because heat or hardware slowed it"
    )
    assert state.slowed
    assert not GpuState(samples=1, events=[ClockEvent.POWER_CAP]).slowed
    assert GpuState(samples=1).sentence == "it tells nothing of its clocks"


def test_a_spread_is_in_order() -> None:
    with pytest.raises(ValidationError, match="not in order"):
        Spread(low=3, median=2, high=4)


def test_reports_from_before_these_fields_are_read() -> None:
    old = timed().model_dump(mode="json")
    for name in ("roofline_us", "fixed_us", "gpu", "cost"):
        del old[name]
    assert WorkloadReport.model_validate(old).remarks == []


def test_a_kernel_that_spills_says_so() -> None:
    assert KernelUsage(name="k", registers=255, spill_loads=4).spills
    assert not KernelUsage(name="k", registers=255, stack_bytes=4, said_by=Witness.RUNNER).spills


def test_a_hidden_case_keeps_no_element() -> None:
    element = WorstElement(index=[3], got="1", expected="424242", error=2.0, allowed=0.1)
    mismatch = Mismatch(argument="out", kind="value", index=[3], wrong=1, total=9, worst=[element])
    case = CaseReport(
        name="secret",
        category="prime",
        verdict=CaseVerdict.WRONG_ANSWER,
        detail="out[3]",
        mismatch=mismatch,
        hidden=True,
    )
    report = judged(case)
    told = report.redacted()
    assert told.cases[0].mismatch is None
    assert told.cases[0].detail == "A hidden prime case failed: value."
    assert "424242" in report.model_dump_json()
    assert "424242" not in told.model_dump_json()


@pytest.mark.parametrize("verdict", CaseVerdict)
def test_its_author_may_read_of_every_verdict_of_a_hidden_case(verdict: CaseVerdict) -> None:
    fine = verdict is CaseVerdict.ACCEPTED
    case = CaseReport(
        name="secret",
        category="prime",
        verdict=verdict,
        seed=424242,
        sizes={"n": 424242},
        detail="" if fine else "n is 424242",
        output="424242",
        hidden=True,
    )
    (told,) = judged(case).redacted().cases
    assert told.verdict is verdict
    assert bool(told.detail) is not fine
    assert "424242" not in told.model_dump_json()
    assert "secret" not in told.model_dump_json()
