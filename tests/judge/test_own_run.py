"""A run of one case with own sizes and inputs: judged, its results kept, its prints by block and thread."""

from __future__ import annotations

import pytest

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.device_kinds import EMULATED
from grader.judge import oracle
from grader.judge.device import make_device
from grader.judge.own_run import of_threads
from grader.judge.request import Request
from grader.judge.session import ONE_CASE_ONLY, Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.own_case import OwnCase
from grader.schemas.report import CaseVerdict, Report, Verdict
from tests.components import need
from tests.judge.kernels import with_solve

CUDA = """#include <cstdint>
#include <cstdio>
__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) {
        PRINTS
        out[i] = (FACTOR) * x[i];
    }
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) twice<<<(n + 3) / 4, 4>>>(x, out, n);
}
"""
TRITON = """
import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n)
    tl.device_print("value", values)
    tl.store(out + offsets, 2 * values, mask=offsets < n)


def solve(x, out, n):
    if n:
        twice[(triton.cdiv(n, 32),)](x, out, n, BLOCK=32, num_warps=1)
"""


def ran(
    catalogue: Catalogue,
    boxes: BoxMaker,
    source: str,
    asked: OwnCase,
    *,
    language: Language = Language.TRITON,
    device: str = "cpu",
    challenge: str = "twice",
) -> Report:
    loaded = catalogue.load(challenge)
    every = [*loaded.cases, *loaded.hidden_cases]
    request = Request(loaded, language, source, device, b"key", every).with_own(asked)
    return Session(request, make_device(device), boxes, lambda _: None, lambda: None).run().report


def cuda(prints: str = "", factor: str = "2") -> str:
    return CUDA.replace("PRINTS", prints).replace("FACTOR", factor)


def test_right_and_wrong_with_the_results_kept(catalogue: Catalogue, boxes: BoxMaker) -> None:
    asked = OwnCase(name="basic", sizes={"n": 5}, inputs={"x": "ramp"})
    right = ran(catalogue, boxes, with_solve("    out.copy_(2 * x)"), asked)
    assert (right.verdict, right.detail, right.workloads, right.hidden) == (
        Verdict.ACCEPTED,
        ONE_CASE_ONLY,
        [],
        None,
    )
    assert [(case.name, case.sizes) for case in right.cases] == [("basic", {"n": 5})]
    assert right.own is not None
    assert (right.own.sizes, right.own.inputs, right.own.own) == ({"n": 5}, {"x": "0, 1, 2, ..."}, ["n", "x"])
    assert right.own.outputs[0].head == ["0.0", "2.0", "4.0", "6.0", "8.0"]
    wrong = ran(catalogue, boxes, with_solve("    out.copy_(2 * x)\n    out[3] = 7"), asked)
    assert (wrong.verdict, wrong.cases[0].verdict) == (Verdict.WRONG_ANSWER, CaseVerdict.WRONG_ANSWER)
    assert wrong.cases[0].mismatch is not None
    assert (wrong.cases[0].mismatch.index, wrong.cases[0].mismatch.expected) == ([3], "6")
    assert wrong.own is not None
    assert wrong.own.inputs_sha256 == right.own.inputs_sha256 != ""
    assert wrong.own.outputs[0].sha256 != right.own.outputs[0].sha256


def test_inputs_without_an_answer(
    catalogue: Catalogue, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference fails on them: neither the kernel's fault nor the platform's."""

    def fails(**_: object) -> None:
        raise IndexError("column 9 of 3")

    monkeypatch.setattr(oracle, "results_of", results_with(fails))
    report = ran(catalogue, boxes, with_solve("    out.copy_(2 * x)"), OwnCase(name="basic", sizes={"n": 5}))
    assert (report.verdict, report.cases) == (Verdict.NO_ANSWER, [])
    assert "IndexError: column 9 of 3" in report.detail


def results_with(function: object) -> object:
    real = oracle.results_of
    return lambda challenge, case, _, inputs, sizes: real(challenge, case, function, inputs, sizes)  # type: ignore[arg-type]


def test_prints_by_block_and_thread(catalogue: Catalogue, boxes: BoxMaker) -> None:
    need("nvcc")
    need("emulator")
    prints = 'printf("i=%d ", (int)i); printf("x=%.0f\\n", x[i]);'
    asked = OwnCase(name="basic", sizes={"n": 6}, inputs={"x": "ramp"})
    report = ran(catalogue, boxes, cuda(prints), asked, language=Language.CUDA, device=EMULATED)
    assert report.verdict is Verdict.ACCEPTED, report
    (case,) = report.cases
    said = [(entry.block[0], entry.thread[0], entry.text) for entry in case.prints]
    assert said == [(i // 4, i % 4, f"i={i} x={i}\n") for i in range(6)]
    assert "\x1e" not in case.output
    assert case.prints_left_out == 0


def test_a_kernel_that_prints_far_too_much_keeps_its_head(catalogue: Catalogue, boxes: BoxMaker) -> None:
    need("nvcc")
    need("emulator")
    prints = 'for (int j = 0; j < 40000; j++) printf("thread %d says that j is %d\\n", (int)i, j);'
    asked = OwnCase(name="basic", sizes={"n": 100})
    report = ran(catalogue, boxes, cuda(prints), asked, language=Language.CUDA, device=EMULATED)
    assert report.verdict is Verdict.ACCEPTED, report
    (case,) = report.cases
    assert sum(len(entry.text) for entry in case.prints) <= limits.OWN_OUTPUT_KEPT_BYTES
    kept = sum(entry.text.count("\n") for entry in case.prints)
    assert kept > 1000
    assert kept + case.prints_left_out == 100 * 40_000


def test_device_print_of_triton(catalogue: Catalogue, boxes: BoxMaker) -> None:
    need("emulator")
    asked = OwnCase(name="basic", sizes={"n": 64}, inputs={"x": "ramp"})
    report = ran(catalogue, boxes, TRITON, asked, device=EMULATED)
    assert report.verdict is Verdict.ACCEPTED, report
    (case,) = report.cases
    assert [(entry.block[0], entry.thread[0]) for entry in case.prints] == [
        (b, t) for b in (0, 1) for t in range(32)
    ]
    assert "value: 33.0" in case.prints[33].text


def test_marks_are_taken_apart() -> None:
    said = b"host\n\x1e1,0,0;2,0,0\x1fA\n\x1e0,0,0;31,0,0\x1fB\x1e1,0,0;2,0,0\x1fC\n\x1e!7\x1f"
    plain, threads, left_out = of_threads(said)
    assert plain == b"host\nA\nBC\n"
    assert [(entry.block, entry.thread, entry.text) for entry in threads] == [
        ((0, 0, 0), (31, 0, 0), "B"),
        ((1, 0, 0), (2, 0, 0), "A\nC\n"),
    ]
    assert left_out == 7
    assert of_threads(b"\x1e1,2\x1f not ours") == (b"\x1e1,2\x1f not ours", [], 0)
