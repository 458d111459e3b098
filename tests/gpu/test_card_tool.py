"""Runs of one case under the toolkit's own tools, in boxes on a GPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.card_tool import command
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.schemas.card_tool import CardTool, CardToolRun
from grader.schemas.own_case import OwnCase
from tests.gpu.conftest import Refilled

ADD = """__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i COMPARED n) out[i] = a[i] + b[i];
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n) add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
"""
RACE = """__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    __shared__ float last[256];
    last[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];
    out[blockIdx.x * 256 + threadIdx.x] = last[255 - threadIdx.x];
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n >= 256) add<<<n / 256, 256>>>(a, b, out, n);
}
"""
TRITON = """import triton
import triton.language as tl

@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)

def solve(a, b, out, n):
    if n:
        add[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
"""
Examine = Callable[..., CardToolRun]


@pytest.fixture
def examine(served: Catalogue, device: Device, boxes: Refilled) -> Examine:
    def run(source: str, tool: CardTool, language: Language = Language.CUDA) -> CardToolRun:
        if command(tool) is None:
            pytest.skip(f"no {tool.program}")
        challenge = served.load("vector_add")
        case = next(case for case in challenge.cases if case.sizes["n"] > 1000)
        request = Request(
            challenge=challenge,
            language=language,
            source=source,
            device=device.name,
            seed_key=b"gpu tests" * 4,
            cases=list(challenge.cases),
        ).with_own(OwnCase(name=case.name, sizes={"n": 65792}, tool=tool))
        report = Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report
        assert report.card_tool is not None, report.detail
        assert not report.card_tool.problem, report.card_tool.problem
        return report.card_tool

    return run


@pytest.mark.parametrize("language", [Language.CUDA, Language.TRITON])
def test_nsight_compute_counts_the_call(examine: Examine, language: Language) -> None:
    source = TRITON if language is Language.TRITON else ADD.replace("COMPARED", "<")
    found = examine(source, CardTool.COUNTERS, language)
    (kernel,) = [kernel for kernel in found.kernels if kernel.name.startswith("add")]
    counted = {counter.metric: counter.value for counter in kernel.counters}
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 2 * 65792 / 8
    assert counted["gpu__time_duration.sum"] > 0
    assert len(counted) >= 20, sorted(counted)


def test_memcheck_names_the_line_of_a_write_past_the_end(examine: Examine) -> None:
    found = examine(ADD.replace("COMPARED", "<=").replace("(n + 255)", "(n + 256)"), CardTool.MEMCHECK)
    assert found.errors
    assert any("Invalid __global__" in finding.text and finding.line == 3 for finding in found.findings), (
        found
    )


def test_memcheck_finds_nothing_in_a_right_kernel(examine: Examine) -> None:
    found = examine(ADD.replace("COMPARED", "<"), CardTool.MEMCHECK)
    assert (found.errors, found.findings) == (0, [])


def test_racecheck_names_the_line_of_a_race(examine: Examine) -> None:
    found = examine(RACE, CardTool.RACECHECK)
    assert any("ace reported" in finding.text and finding.line in (3, 4) for finding in found.findings), found
