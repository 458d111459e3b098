"""``while True`` in solve: never returns, ignores signals. Surface: the judge waits for ever.

Closed by a limit on the box's processor time, which the host counts; the box is killed, no further case runs.
"""

from __future__ import annotations

from grader.schemas.report import CaseVerdict, Verdict
from tests.judge.conftest import Judge
from tests.judge.kernels import with_solve

ENDLESS = """    import signal
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass"""


def test_an_endless_loop_is_time_limit_and_ends_the_judging(
    judge: Judge,
) -> None:
    """Protects those who wait against a submission that holds the worker for one time limit a case."""
    report = judge(with_solve(ENDLESS))
    assert report.verdict is Verdict.TIME_LIMIT
    assert "more than 1.5 s of processor time" in report.cases[0].detail
    assert "BLOCK = 1024" in report.cases[0].hint, "it may be a right kernel with small blocks"
    assert [case.verdict for case in report.cases] == [CaseVerdict.TIME_LIMIT] + [CaseVerdict.NOT_RUN] * 5
