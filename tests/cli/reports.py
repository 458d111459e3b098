"""Reports and submissions as a server sends them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from grader.languages import Language
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Mismatch,
    Report,
    Score,
    Verdict,
    WorkloadReport,
)
from grader.schemas.submission import State, SubmissionView, WaitReason, WaitsFor

MISMATCH = Mismatch(
    argument="out", kind="value", index=[3, 17], expected="1.5", got="2", wrong=12, total=1024, max_error=0.5
)
WRONG_CASE = CaseReport(
    name="n 1023",
    category="odd",
    verdict=CaseVerdict.WRONG_ANSWER,
    seed=42,
    sizes={"n": 1023},
    detail="out[3, 17] is 2, expected 1.5 (12 of 1,024 elements are wrong).",
    hint="Is the tail handled?",
    mismatch=MISMATCH,
    output="hello \x1b[31mred[bold]",
)
PAUSED = WaitsFor(
    reason=WaitReason.PAUSED,
    text="Staff have paused all queues: [exam]",
    since=datetime(2026, 1, 2, 12, tzinfo=UTC),
)


def right_case(name: str, category: str = "basic") -> CaseReport:
    return CaseReport(name=name, category=category, verdict=CaseVerdict.ACCEPTED, seed=1, sizes={"n": 4})


def accepted(**changes: Any) -> Report:
    workload = WorkloadReport(
        name="small",
        sizes={"n": 1_048_576},
        ranked=True,
        time_us=1234.0,
        ci_us=(1200.0, 1300.0),
        rounds=30,
        baselines_us={"eager": 2468.0},
        speedup=2.0,
        sol=0.5,
    )
    report = Report(
        verdict=Verdict.ACCEPTED,
        challenge="vector_add",
        version=1,
        language=Language.TRITON,
        device="cpu",
        representative=False,
        cases=[right_case("one"), right_case("two"), right_case("empty", "empty")],
        workloads=[workload],
        score=Score(time_us=1234.0, speedup=2.0, ci=(1200.0, 1300.0), passed=3, total=3),
    )
    return report.model_copy(update=changes)


def wrong(cases: list[CaseReport] | None = None) -> Report:
    cases = cases or [right_case("one"), WRONG_CASE]
    passed = sum(case.verdict is CaseVerdict.ACCEPTED for case in cases)
    return Report(
        verdict=Verdict.WRONG_ANSWER,
        challenge="vector_add",
        version=1,
        language=Language.TRITON,
        device="cpu",
        representative=False,
        cases=cases,
        score=Score(passed=passed, total=len(cases)),
    )


def view(state: State, **changes: Any) -> SubmissionView:
    base: dict[str, Any] = {
        "id": "abc123",
        "user": "ada",
        "challenge": "vector_add",
        "version": 1,
        "language": "triton",
        "device": "cpu",
        "filename": "mine.py",
        "state": state,
        "attempt": 1,
        "created_at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    }
    return SubmissionView.model_validate(base | changes)
