"""What a report is summed up to, of each verdict."""

from __future__ import annotations

from typing import Any

import pytest

from grader.advice import advise
from grader.languages import Language
from grader.schemas.report import (
    CaseReport,
    CaseVerdict,
    Flag,
    HiddenCases,
    Report,
    Verdict,
    WorkloadCost,
    WorkloadReport,
)


def case(name: str, verdict: CaseVerdict = CaseVerdict.ACCEPTED, **values: Any) -> CaseReport:
    detail = "" if verdict is CaseVerdict.ACCEPTED else f"{name} says why"
    return CaseReport(
        **({"name": name, "category": "odd_size", "verdict": verdict, "detail": detail} | values)
    )


def timed(name: str, sol: float | None = None, speedup: float | None = None, **values: Any) -> WorkloadReport:
    given = {"sizes": {"n": 9}, "ranked": True, "time_us": 500.0, "ci_us": (499.0, 501.0), "rounds": 60}
    return WorkloadReport(**(given | {"name": name, "sol": sol, "speedup": speedup} | values))


def report(verdict: Verdict = Verdict.ACCEPTED, **values: Any) -> Report:
    given: dict[str, Any] = {"challenge": "relu", "version": 1, "language": Language.CUDA, "device": "h200"}
    if verdict is Verdict.ACCEPTED:
        given["cases"] = [case("small")]
    return Report(**(given | {"verdict": verdict} | values))


def test_advice_names_the_workload_farthest_from_the_roofline() -> None:
    cost = WorkloadCost(bytes=8e9, flops=1e9, bandwidth=4e12, rate=50e12)
    found = advise(
        report(
            workloads=[timed("2^24", 0.8), timed("2^20", 0.6, cost=cost), timed("tiny", 0.1, ranked=False)]
        )
    )
    assert found.text == (
        "Every case passed; furthest from the hardware's limit is '2^20', at 60 % of the speed of light, "
        "limited by memory bandwidth."
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "no time was measured"),
        ({"workloads": [timed("only", 0.5)]}, "'only' reaches 50 % of the speed of light."),
        ({"workloads": [timed("a", speedup=2.0), timed("b", speedup=0.5)]}, "'b' gains least: 0.50 times"),
        ({"workloads": [timed("a")]}, "nothing yet to compare"),
        ({"workloads": [timed("a", 0.5)], "representative": False}, "say nothing of a GPU"),
        ({"flags": [Flag.SIMILAR, Flag.ABOVE_ROOFLINE]}, "Staff will look at it because it resembles"),
    ],
)
def test_an_accepted_report_gets_advice(values: dict[str, Any], words: str) -> None:
    assert words in advise(report(**values)).text


def test_advice_names_the_first_failing_case() -> None:
    wrong = case(
        "tail", CaseVerdict.WRONG_ANSWER, sizes={"n": 1025}, detail="out[1024] is 0, expected 1.\nmore"
    )
    late = case("late", CaseVerdict.NOT_RUN, category="huge")
    found = advise(report(Verdict.WRONG_ANSWER, cases=[case("small"), wrong, late]))
    assert (
        found.text
        == "Look first at 'tail' with n = 1,025: it gives a wrong answer. out[1024] is 0, expected 1."
    )
    assert (found.case, found.line) == ("tail", None)


def test_advice_names_what_failing_cases_share() -> None:
    cases = [case(name, CaseVerdict.TIME_LIMIT) for name in ("a", "b", "c")]
    assert advise(report(Verdict.TIME_LIMIT, cases=cases)).text.endswith(
        "it takes too long. a says why. All 3 failing cases are of the category 'odd size'."
    )


def test_advice_names_the_line_of_an_exception() -> None:
    raised = case("a", CaseVerdict.RUNTIME_ERROR, detail="ZeroDivisionError while solve ran (line 7): no")
    assert advise(report(Verdict.RUNTIME_ERROR, cases=[raised])).line == 7


def test_advice_counts_passed_hidden_cases() -> None:
    secret = case("secret", CaseVerdict.WRONG_ANSWER, hidden=True, sizes={"n": 4242}, detail="4242")
    whole = report(Verdict.WRONG_ANSWER, cases=[case("small"), secret], hidden=HiddenCases(passed=2, total=3))
    found = advise(whole.redacted())
    assert found.text == "2 of 3 hidden cases passed. Try sizes and values that no public case has."
    assert found.case is None
    assert advise(whole).case == "secret"


@pytest.mark.parametrize(
    ("detail", "line"),
    [
        ('solution.cu(12): error: expected a ";"', 12),
        ("solution.cu:3:10: fatal error: torch.h: No such file", 3),
        ("SyntaxError in line 5: invalid syntax", 5),
        ("It defines no solve", None),
        ("", None),
    ],
)
def test_advice_names_the_line_that_does_not_compile(detail: str, line: int | None) -> None:
    found = advise(report(Verdict.COMPILE_ERROR, detail=detail))
    assert found.line == line
    assert found.text
    assert detail in found.text


def test_long_advice_is_cut() -> None:
    assert len(advise(report(Verdict.COMPILE_ERROR, detail="x" * 9000)).text) < 300


def test_our_failure_asks_nothing_of_the_student() -> None:
    assert advise(report(Verdict.INTERNAL_ERROR)).text == "There is nothing for you to fix."
