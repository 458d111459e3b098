"""What students send by mistake: each ends with its own verdict and words that say how to mend it."""

from __future__ import annotations

import pytest

from grader.schemas.report import CaseVerdict, Verdict
from tests.judge.conftest import Judge
from tests.judge.kernels import HEAD, with_solve


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def solve(x, out, n)\n    pass\n", "line 1"),
        (HEAD, "no function 'solve'"),
        ("solve = 3\n", "not a function"),
        ("def solve(x, out):\n    pass\n", "3 arguments"),
        ("def solve(x, out, n, extra):\n    pass\n", "3 arguments"),
        ("import no_such_module\ndef solve(x, out, n): pass\n", "no_such_module"),
        ("import torch\nraise ValueError('at the top')\n", "at the top"),
        ("import sys\nsys.exit(0)\n", "SystemExit"),
    ],
    ids=["syntax", "no-solve", "not-callable", "too-few", "too-many", "import", "raises", "exits"],
)
def test_a_source_that_cannot_be_loaded(judge: Judge, source: str, words: str) -> None:
    report = judge(source)
    assert report.verdict is Verdict.COMPILE_ERROR
    assert words in report.detail
    assert report.cases == []


def test_wrong_arity_shows_the_declaration(judge: Judge) -> None:
    assert "def solve(x, out, n)" in judge("def solve(a):\n    pass\n").hint


def test_an_exception_in_solve_names_its_line(judge: Judge) -> None:
    report = judge(with_solve("    raise KeyError('oops')"))
    assert report.verdict is Verdict.RUNTIME_ERROR
    line = HEAD.count("\n") + 3
    assert f"line {line}" in report.cases[0].detail
    assert "oops" in report.cases[0].detail
    assert all(case.verdict is CaseVerdict.RUNTIME_ERROR for case in report.cases)


def test_an_exception_in_a_kernel_is_unwrapped(judge: Judge) -> None:
    source = HEAD.replace("2 * tl.load", "no_such_name * tl.load") + (
        "\ndef solve(x, out, n):\n    twice[(1,)](x, out, n, BLOCK=64)\n"
    )
    report = judge(source, case="basic")
    assert "NameError" in report.cases[0].detail


def test_sys_exit_in_solve_is_an_exception(judge: Judge) -> None:
    report = judge(with_solve("    sys.exit(0)"), case="basic")
    assert report.cases[0].verdict is CaseVerdict.RUNTIME_ERROR
    assert "SystemExit" in report.cases[0].detail
