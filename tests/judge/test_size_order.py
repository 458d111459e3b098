"""Kernels that take the sizes in another order get a hint, and no others do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.device_kinds import CPU
from grader.judge.at_home import judge_at_home
from grader.judge.size_order import Order, explain
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseReport, CaseVerdict, Verdict

ACCEPTED, WRONG, CRASHED, NOT_RUN = (
    CaseVerdict.ACCEPTED,
    CaseVerdict.WRONG_ANSWER,
    CaseVerdict.RUNTIME_ERROR,
    CaseVerdict.NOT_RUN,
)
MATMUL = find_catalogue().load("matmul").manifest


def case(verdict: CaseVerdict, m: int, n: int, k: int) -> CaseReport:
    detail = "" if verdict is ACCEPTED else "so it is"
    sizes = {"m": m, "n": n, "k": k}
    return CaseReport(name=f"{m}_{n}_{k}", category="basic", verdict=verdict, sizes=sizes, detail=detail)


class Kernel:
    """Right by one ``order`` (m, n and k); remembers the others that were tried."""

    def __init__(self, order: str) -> None:
        self.order = order
        self.tried: list[str] = []
        self.cases: list[Sequence[str]] = []

    def passes(self, names: Sequence[str], order: Order) -> bool:
        self.tried.append("".join(order[name] for name in "mnk"))
        self.cases.append(names)
        return self.tried[-1] == self.order

    def hint(self, cases: Sequence[CaseReport]) -> str:
        return explain(MATMUL, Language.CUDA, cases, self.passes)


@pytest.mark.parametrize("order", ["mkn", "nmk", "knm", "nkm", "kmn"])
def test_the_kernels_size_order_is_found_by_trying(order: str) -> None:
    """All that ran crashed, as at an array's end next to forbidden memory."""
    cases = [case(CRASHED, 64, 48, 80), case(WRONG, 5, 7, 0), case(ACCEPTED, 1, 1, 1)]
    cases += [case(CRASHED, 1, 1, 301), case(NOT_RUN, 33, 33, 33), case(NOT_RUN, 15, 77, 33)]
    kernel = Kernel(order)
    hint = kernel.hint(cases)
    assert f"called with {', '.join(order)} instead of m, n, k, it passes" in hint
    assert 'extern "C" void solve(const float* a, const float* b, float* out, int64_t m' in hint
    assert kernel.cases[0] == ["64_48_80", "15_77_33"]
    assert "mnk" not in kernel.tried


def test_sizes_that_must_be_equal_are_named_if_no_order_is_right() -> None:
    cases = [
        case(WRONG, 64, 48, 80),
        case(WRONG, 15, 77, 33),
        case(WRONG, 32, 32, 31),
        case(ACCEPTED, 31, 32, 32),
    ]
    hint = Kernel("none").hint([*cases, case(ACCEPTED, 1, 5, 1), case(NOT_RUN, 2, 3, 4)])
    assert hint.startswith("Cases in which n and k are equal pass, but those in which they differ fail")


@pytest.mark.parametrize(
    "cases",
    [
        # Nothing fails, or too little to tell.
        [case(ACCEPTED, 64, 48, 80), case(ACCEPTED, 33, 33, 33)],
        [case(WRONG, 64, 48, 80), case(WRONG, 2, 3, 4)],
        # Everything fails, the square ones too.
        [case(WRONG, 64, 48, 80), case(WRONG, 2, 3, 4), case(WRONG, 33, 33, 33), case(WRONG, 32, 32, 32)],
        # Some with different sizes pass.
        [
            *(case(WRONG, 64, 48, 80 + i) for i in range(3)),
            *(case(ACCEPTED, 2, 3, 4 + i) for i in range(3)),
            case(ACCEPTED, 9, 9, 9),
        ],
        # What passes has sizes of 1, by which many a wrong kernel passes.
        [*(case(WRONG, 64, 48, 80 + i) for i in range(3)), case(ACCEPTED, 1, 1, 1)],
    ],
    ids=["passes", "few", "all", "some", "ones"],
)
def test_no_hint_without_evidence(cases: list[CaseReport]) -> None:
    assert Kernel("none").hint(cases) == ""


def test_an_order_is_tried_only_if_a_wrong_one_would_show() -> None:
    """Not on equal sizes, nor on empty results, nor if most cases pass."""
    trivial = [case(WRONG, 33, 33, 80), case(WRONG, 0, 7, 5), case(WRONG, 1, 8, 5)]
    passing = [case(ACCEPTED, 2, 3, 4 + i) for i in range(9)]
    for cases in (trivial, [*trivial, case(WRONG, 64, 48, 80), *passing]):
        kernel = Kernel("mkn")
        kernel.hint(cases)
        assert kernel.tried == []


def test_a_kernel_with_exchanged_sizes_gets_the_hint(boxes: BoxMaker) -> None:
    source = """
import triton
import triton.language as tl

@triton.jit
def transpose(x, out, rows, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < rows * cols
    tl.store(out + i % cols * rows + i // cols, tl.load(x + i, mask=inside), mask=inside)

def solve(x, out, cols, rows):
    if rows * cols:
        transpose[(triton.cdiv(rows * cols, 4096),)](x, out, rows, cols, BLOCK=4096)
"""
    report = judge_at_home(
        find_catalogue().load("transpose"), source, Language.TRITON, boxes, device=CPU, timing=False
    )
    assert report.verdict is Verdict.WRONG_ANSWER
    assert "called with cols, rows instead of rows, cols, it passes the cases" in report.hint
    assert "The signature is: def solve(x, out, rows, cols)." in report.hint
    # Trials are not part of the suite.
    assert len(report.cases) == report.score.total
