"""Further parts of a report, on a real GPU: kernels' resources, library kernels, the GPU's state, printed output, and
remarks on a time."""

from __future__ import annotations

import statistics
import time

import pytest

from grader import limits
from grader.judge.correctness import COUNTS, WARM_UP
from grader.languages import Language
from grader.sandbox.gpu import find_gpus
from grader.schemas.hardware import Witness
from grader.schemas.report import CaseVerdict, Flag, Report, Verdict
from tests.gpu.builders import GPU
from tests.gpu.conftest import Judge
from tests.judge.kernels import RIGHT as RIGHT_TRITON
from tests.judge.kernels import with_solve
from tests.judge.test_cuda import RIGHT as RIGHT_CUDA
from tests.judge.test_survey import AUTOTUNED

pytestmark = pytest.mark.gpu

HEAD = "#include <cstdint>\n#include <cstdio>\n"
# Three kernels, 64 KiB of shared memory, and a kernel that launches another.
SEVERAL = (
    HEAD
    + """
__global__ void doubled(const float* x, float* out, int64_t n) {
    __shared__ float tile[256];
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) out[i] = 2 * tile[threadIdx.x];
}
__global__ void parent(const float* x, float* out, int64_t n) {
    doubled<<<(n + 255) / 256, 256>>>(x, out, n);
}
__global__ void cleared(float* out, int64_t n) {
    extern __shared__ float large[];
    large[threadIdx.x * 64] = 0;
    __syncthreads();
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (int64_t)blockDim.x)
        out[i] = large[threadIdx.x * 64];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    cudaFuncSetAttribute(cleared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    cleared<<<16, 256, 65536>>>(out, n);
    parent<<<1, 1>>>(x, out, n);
}
"""
)
SPILLING = HEAD + (
    """
__global__ void __launch_bounds__(1024, 2) wide(const float* x, float* out, int64_t n, int64_t none) {
    float held[200];
    for (int k = 0; k < 200; k++) held[k] = none ? x[k * none] : 0;
    for (int64_t j = 0; j < none; j++)
        for (int k = 0; k < 200; k++) held[k] = held[k] * held[(k * 7 + 1) % 200] + x[j];
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 200; k++) sum += held[k];
    if (i < n) out[i] = 2 * x[i] + (none ? sum : 0);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) wide<<<(n + 255) / 256, 256>>>(x, out, n, 0);
}
"""
)


def saying(body: str) -> str:
    """The right kernel, each of whose threads also does ``body``."""
    return "#include <cstdio>\n" + RIGHT_CUDA.replace(
        "if (i < n) out[i] = 2 * x[i];", f"if (i < n) out[i] = 2 * x[i]; {body}"
    )


def accepted(report: Report) -> Report:
    assert report.verdict is Verdict.ACCEPTED, [case for case in report.cases if case.detail] or report
    return report


def test_several_kernels_large_shared_memory_and_kernels_that_launch_kernels(judge: Judge) -> None:
    report = accepted(judge(SEVERAL, Language.CUDA, timing=True))
    usage = {kernel.name: kernel for kernel in report.kernels}
    assert set(usage) == {"doubled", "parent", "cleared"}
    assert usage["doubled"].shared_bytes == 1024
    assert all(0 < kernel.registers <= 255 for kernel in report.kernels)
    assert {kernel.said_by for kernel in report.kernels} == {Witness.ASSEMBLER}
    (workload,) = report.workloads
    assert workload.gated


def test_spills_are_reported(judge: Judge) -> None:
    (kernel,) = accepted(judge(SPILLING, Language.CUDA)).kernels
    assert kernel.spills
    assert kernel.stack_bytes > 0


def test_what_tritons_kernels_take_is_reported_by_the_runner(judge: Judge) -> None:
    report = accepted(judge(RIGHT_TRITON, Language.TRITON, timing=True))
    (kernel,) = report.kernels
    assert kernel.said_by is Witness.RUNNER
    assert kernel.name == "twice"
    assert 0 < kernel.registers <= 255


@pytest.mark.parametrize("source", [RIGHT_TRITON, AUTOTUNED], ids=["plain", "autotuned"])
def test_tritons_kernels_alone_raise_no_flag(judge: Judge, source: str) -> None:
    report = accepted(judge(source, Language.TRITON, timing=True))
    assert report.library_ops == []
    assert Flag.LIBRARY_KERNEL not in report.flags


COMPILED = """
import torch
added = torch.compile(lambda x: x + x, dynamic=True)

def solve(x, out, n):
    if n:
        out.copy_(added(x))
"""


@pytest.mark.parametrize(
    ("source", "operation"),
    [
        (with_solve("    torch.add(x, x, out=out)"), "aten.add"),
        (
            with_solve(
                "    two = torch.full((1, 1), 2.0, device=x.device)\n    out.copy_((x[:, None] @ two)[:, 0])"
            ),
            "aten.mm",
        ),
        (with_solve("    out.copy_(2 * x)"), "aten.copy_"),
        (COMPILED, "torch.compile"),
    ],
    ids=["add", "mm", "copy", "compile"],
)
def test_torchs_own_kernels_are_flagged_and_named(judge: Judge, source: str, operation: str) -> None:
    report = accepted(judge(source, Language.TRITON, timing=True))
    assert Flag.LIBRARY_KERNEL in report.flags
    assert operation in report.library_ops


def test_a_time_says_what_it_is_made_of(judge: Judge) -> None:
    (workload,) = accepted(judge(RIGHT_CUDA, Language.CUDA, timing=True)).workloads
    assert workload.gated
    assert workload.host_us is not None
    assert 1 < workload.host_us < 10_000
    assert workload.fixed_us is not None
    assert 5 < workload.fixed_us < 1000
    assert workload.roofline_us is not None
    assert workload.ranked == (workload.roofline_us >= limits.RANKED_ROOFLINE_US)
    assert workload.ranked != any("Shown, not ranked" in remark for remark in workload.remarks)


def test_a_call_that_waits_is_timed_ungated_and_says_so(judge: Judge) -> None:
    source = with_solve("    out.copy_(x * 2)\n    if n:\n        out[0].item()")
    (workload,) = accepted(judge(source, Language.TRITON, timing=True)).workloads
    assert not workload.gated
    assert workload.host_us is None
    assert any(remark.startswith("Not gated") for remark in workload.remarks)


def test_the_gpus_state_is_recorded_around_rounds(judge: Judge) -> None:
    pytest.importorskip("pynvml")
    (workload,) = accepted(judge(RIGHT_CUDA, Language.CUDA, timing=True)).workloads
    state = workload.gpu
    assert state is not None
    assert state.samples >= workload.rounds
    assert state.sm_mhz is not None
    assert 100 < state.sm_mhz.median < 5000
    assert state.memory_mhz is not None
    assert state.temperature_c is not None
    assert 10 < state.temperature_c < 110
    assert state.power_w is None or 5 < state.power_w.median < 2000


def test_a_read_at_the_gpu_is_cheap() -> None:
    pytest.importorskip("pynvml")
    from grader.judge.cuda.nvml import Monitor

    monitor = Monitor(find_gpus()[GPU].uuid)
    assert monitor.sample() is not None
    took = []
    for _ in range(200):
        began = time.perf_counter()
        monitor.sample()
        took.append(time.perf_counter() - began)
    median = statistics.median(took)
    print(f"a look: median {median * 1e6:.0f} us, most {max(took) * 1e6:.0f} us")
    assert median < 5e-3, "a look beside each of 60 rounds shall not lengthen a grading noticeably"


def test_what_the_warm_up_printed_is_shown_apart(judge: Judge) -> None:
    report = accepted(judge(saying('if (i == 0) printf("x[0] is %f\\n", x[0]);'), Language.CUDA))
    warm_up, counts = report.cases[0].output.split(COUNTS)
    assert warm_up.startswith(WARM_UP + "x[0] is ")
    assert counts.startswith("x[0] is ")
    assert warm_up.removeprefix(WARM_UP).strip() != counts.strip()


def test_a_flood_of_printf_is_bounded_shown_and_reported(judge: Judge) -> None:
    # The device's buffer keeps the arguments alone, so a long format makes one call print more than is
    # allowed.
    flood = f'for (int k = 0; k < 2000; k++) printf("thread %d says %d {"and on " * 60}\\n", threadIdx.x, k);'
    report = judge(saying(flood), Language.CUDA)
    assert report.verdict is Verdict.OUTPUT_LIMIT, report
    failed = next(case for case in report.cases if case.verdict is CaseVerdict.OUTPUT_LIMIT)
    shown = next(case.output for case in report.cases if case.output)
    assert " says " in shown
    assert "[cut after " in shown
    assert len(failed.output) < 2 * limits.OUTPUT_KEPT_BYTES
    accepted(judge(RIGHT_CUDA, Language.CUDA))


def test_a_kernel_that_prints_without_end_is_ended(judge: Judge) -> None:
    report = judge(saying('while (true) printf("again and again\\n");'), Language.CUDA)
    assert report.cases[0].verdict in (CaseVerdict.TIME_LIMIT, CaseVerdict.OUTPUT_LIMIT)
    assert len(report.model_dump_json()) < 100_000
    accepted(judge(RIGHT_CUDA, Language.CUDA))
