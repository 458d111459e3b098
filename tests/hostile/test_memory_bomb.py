"""Allocates without end. Surface: the host swaps or its OOM killer picks a victim. Closed by the box's memory limit."""

from __future__ import annotations

import pytest

from grader.schemas.report import CaseVerdict
from tests.judge.conftest import Judge
from tests.judge.kernels import with_solve

BOMBS = {
    "one-request": "    torch.ones(1 << 40)",
    "piece-by-piece": "    kept = []\n    while True:\n        kept.append(torch.ones(1 << 25))",
}


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS.keys())
def test_a_memory_bomb_is_memory_limit(judge: Judge, body: str) -> None:
    report = judge(with_solve(body), case="basic")
    assert report.cases[0].verdict is CaseVerdict.MEMORY_LIMIT
