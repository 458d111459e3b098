"""Prints a gigabyte. Surface: the judge's memory, the host's disk, the report. Closed by a bounded reader
that ends the box.
"""

from __future__ import annotations

from grader import limits
from grader.schemas.report import CaseVerdict
from tests.judge.conftest import Judge
from tests.judge.kernels import with_solve


def test_a_gigabyte_ends_with_output_limit(judge: Judge) -> None:
    report = judge(
        with_solve("    for _ in range(1024):\n        os.write(1, b'x' * (1 << 20))"), case="basic"
    )
    assert report.cases[0].verdict is CaseVerdict.OUTPUT_LIMIT
    assert len(report.cases[0].output) < 2 * limits.OUTPUT_KEPT_BYTES
