"""Ends the process with exit code 0, to be taken for a success. Closed: the verdict comes from the arena."""

from __future__ import annotations

import pytest

from grader.schemas.report import CaseVerdict, Verdict
from tests.judge.conftest import Judge
from tests.judge.kernels import HEAD, with_solve


@pytest.mark.parametrize(
    "body", ["    os._exit(0)", "    out.copy_(2 * x)\n    os._exit(0)"], ids=["bare", "after-work"]
)
def test_an_exit_in_solve_is_a_runtime_error(judge: Judge, body: str) -> None:
    report = judge(with_solve(body), case="basic")
    assert report.cases[0].verdict is CaseVerdict.RUNTIME_ERROR
    assert "exit code 0" in report.cases[0].detail


def test_an_exit_while_loading_is_never_accepted(judge: Judge) -> None:
    report = judge(HEAD + "\nos._exit(0)\n")
    assert report.verdict is Verdict.RUNTIME_ERROR
    assert "loaded" in report.detail
