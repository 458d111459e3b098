"""The line of a message, in logs of nvcc 13, gcc and the runner."""

from __future__ import annotations

import pytest

from grader import limits
from grader.languages import Language
from grader.schemas.diagnostic import Diagnostic, Severity
from grader.schemas.report import CaseReport, CaseVerdict, Report, Verdict
from grader.service.submissions.diagnostics import read

SOURCE = """\
#include <cstdint>
__global__ void k(float* a, int64_t n) {
  foo = 3;
\ta[0] = "x";
}
"""
LOG = """\
solution.cu(3): error: identifier "foo" is undefined
    foo = 3;
    ^

solution.cu(4): error: a value of type "const char *" cannot be assigned to an entity of type "float"
  \ta[0] = "x";
  \t     ^

solution.cu(2): warning #177-D: variable "u" was declared but never referenced
  __attribute__((global)) void k(float* a, int64_t n) {
                                 ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

solution.cu(3): error: identifier "foo" is undefined
3 errors detected in the compilation of "solution.cu".
"""


def report(language: Language = Language.CUDA, **values: object) -> Report:
    given = {
        "verdict": Verdict.COMPILE_ERROR,
        "challenge": "c",
        "version": 1,
        "language": language,
        "device": "h200",
    }
    return Report.model_validate(given | values)


def heard(log: str, source: str = SOURCE) -> list[Diagnostic]:
    return read(report(compiler_log=log), source)


def test_nvccs_messages_are_at_their_lines_once() -> None:
    warning, undefined, pointer = heard(LOG)
    assert (warning.line, warning.severity, warning.column) == (2, Severity.WARNING, None)
    assert warning.message == 'variable "u" was declared but never referenced'
    assert (undefined.line, undefined.column, undefined.text) == (3, 3, "  foo = 3;")
    assert (pointer.line, pointer.column, pointer.severity) == (4, 7, Severity.ERROR)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("solution.cu:1:10: fatal error: nope.h: No such file or directory", 1, 10),
        ("solution.cu:3:2: error: #error stop here", 3, 2),
        ("solution.cu:3: warning: extra tokens", 3, None),
        ('solution.cu(1): catastrophic error: cannot open source file "x"', 1, None),
    ],
)
def test_messages_of_preprocessor_and_host_compiler_are_read(
    text: str, line: int, column: int | None
) -> None:
    (one,) = heard(text)
    assert (one.line, one.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "vector.h(3): error: of another file",
        "ptxas solution.ptx, line 23; error   : Unknown modifier",
        "solution.cu(99): error: beyond the end",
        "solution.cu(9999999999): error: no line at all",
        "error: solution.cu",
    ],
)
def test_messages_without_a_line_of_the_source_are_left_out(text: str) -> None:
    assert heard(text) == []


def test_a_python_load_error_is_at_its_line() -> None:
    said = "SyntaxError in line 2: invalid syntax (solution.py, line 2)"
    (one,) = read(report(Language.TRITON, detail=said, compiler_log=said), "x = 1\ny = = 2\n")
    assert (one.line, one.text) == (2, "y = = 2")
    assert one.message == "SyntaxError: invalid syntax (solution.py, line 2)"


def test_exceptions_of_public_cases_only_are_shown() -> None:
    raised = "TypeError while solve ran (line 2): no such thing\n  line 2 in solve: foo()"
    failed = {"category": "basic", "verdict": CaseVerdict.RUNTIME_ERROR, "detail": raised, "sizes": {"n": 1}}
    cases = [CaseReport(name="one", seed=1, **failed), CaseReport(name="two", seed=1, hidden=True, **failed)]
    whole = report(Language.TRITON, verdict=Verdict.RUNTIME_ERROR, cases=cases)
    (one,) = read(whole.redacted(), "def solve():\n    foo()\n")
    assert one.message == "TypeError: no such thing (case one)"
    assert one.line == 2


def test_a_hostile_log_is_bounded() -> None:
    many = "\n".join(f"solution.cu(1): error: {number}" for number in range(3000))
    assert len(heard(many)) == 100
    for text in ("9" * limits.COMPILE_LOG_BYTES, "(" * limits.COMPILE_LOG_BYTES):
        assert heard(f"solution.cu({text}") == []
    (long,) = heard("solution.cu(1): error: " + "x" * limits.COMPILE_LOG_BYTES)
    assert len(long.message) <= 500
