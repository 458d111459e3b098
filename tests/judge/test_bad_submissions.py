"""Students' typical mistakes: each ends with its own verdict and words on how to fix it."""

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
def test_an_unloadable_source_is_a_compile_error(judge: Judge, source: str, words: str) -> None:
    report = judge(source)
    assert report.verdict is Verdict.COMPILE_ERROR
    assert words in report.detail
    assert report.cases == []


def test_an_unloadable_source_is_reported_once(judge: Judge) -> None:
    report = judge("import torch\nraise ValueError('at the top')\n")
    assert report.detail == "ValueError in line 2: at the top"
    assert report.compiler_log == "  line 2 in <module>: raise ValueError('at the top')"


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("def helper(a): pass\ndef solution(x, out, n): pass\n", "Rename 'solution' to 'solve'."),
        ("def one(x, out, n): pass\ndef two(x, out, n): pass\n", "Define: def solve(x, out, n)"),
        ("from task import input_t\n", "A submission is one file"),
        (
            "from triton.language import no_such_thing\n",
            "does not have this. `grader show` names the version.",
        ),
    ],
    ids=["renamed", "two", "another platform's module", "another Triton"],
)
def test_an_unloadable_source_gets_a_hint(judge: Judge, source: str, hint: str) -> None:
    report = judge(source)
    assert hint in report.hint
    assert "site-packages" not in report.detail + report.compiler_log


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("    import torch\n    torch.empty(4, device='cuda')", "device=x.device"),
        ("    tl.no_such_thing", "does not have this"),
    ],
    ids=["cuda", "another Triton"],
)
def test_an_exception_gets_a_hint(judge: Judge, body: str, hint: str) -> None:
    report = judge(with_solve(body), case="basic")
    assert hint in report.cases[0].hint


def test_a_block_pointer_is_explained(judge: Judge) -> None:
    """Triton 3.9 has no block pointers; in versions that have them, the case passes."""
    source = HEAD.replace(
        "2 * tl.load", "2 + 0 * tl.make_block_ptr(x, (n,), (1,), (0,), (BLOCK,), (0,)) * tl.load"
    )
    case = judge(
        source + "\ndef solve(x, out, n):\n    twice[(1,)](x, out, n, BLOCK=64)\n", case="basic"
    ).cases[0]
    assert case.verdict is CaseVerdict.RUNTIME_ERROR
    assert "tl.make_tensor_descriptor" in case.hint or "Block pointers" not in case.detail


def test_a_library_warning_names_the_submissions_line(judge: Judge) -> None:
    source = HEAD.replace("2 * tl.load", "2 * tl.exp(1e4 + 0 * tl.load(x)) * 0 + 2 * tl.load")
    source = source + "\ndef solve(x, out, n):\n    twice[(1,)](x, out, n, BLOCK=64)\n"
    case = judge(source, case="basic").cases[0]
    line = next(number for number, text in enumerate(source.split("\n"), 1) if "tl.exp" in text)
    assert f"solution.py:{line}: RuntimeWarning: overflow encountered in exp\n" in case.output
    assert "/" not in case.output


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
