"""CUDA on a machine without a GPU: compiled in a box, judged no further."""

from __future__ import annotations

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import CPU, EMULATED
from grader.errors import LanguageNotServed
from grader.judge.at_home import judge_at_home
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.hardware import Witness
from grader.schemas.report import Report, Verdict
from tests.components import need

RIGHT = """#include <cstdint>
__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) twice<<<(n + 255) / 256, 256>>>(x, out, n);
}
"""


@pytest.fixture(autouse=True)
def _compiler() -> None:
    need("nvcc")


def judge(catalogue: Catalogue, boxes: BoxMaker, source: str, device: str = EMULATED) -> Report:
    return judge_at_home(catalogue.load("twice"), source, Language.CUDA, boxes, device=device)


def test_a_compile_error_has_the_students_line(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = judge(catalogue, boxes, RIGHT.replace("out[i] = 2 * x[i]", "out[i] = 2 * nothing[i]"))
    assert report.verdict is Verdict.COMPILE_ERROR
    assert "solution.cu(4)" in report.detail
    assert "nothing" in report.compiler_log


def test_a_wrong_signature_is_a_compile_error(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = judge(catalogue, boxes, 'extern "C" void solve(const float* x) {}\n')
    assert report.verdict is Verdict.COMPILE_ERROR
    assert "the challenge passes 3" in report.detail


def test_the_report_lists_each_kernels_resources(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = judge(catalogue, boxes, RIGHT)
    assert report.verdict is Verdict.ACCEPTED, report
    (kernel,) = report.kernels
    assert (kernel.name, kernel.said_by) == ("twice", Witness.ASSEMBLER)
    assert 0 < kernel.registers <= 255


def test_a_source_that_compiles_is_refused_without_a_gpu(catalogue: Catalogue, boxes: BoxMaker) -> None:
    with pytest.raises(LanguageNotServed, match="the board cpu does not run CUDA"):
        judge(catalogue, boxes, RIGHT, device=CPU)
