"""The board ``emulated`` refuses what a card refuses, reports faults that a card lets pass, and times
repeatably.

``tests/emulator`` tests the engine; these tests use judge and box.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.model import Limits, Workload
from grader.device_kinds import EMULATED
from grader.errors import JudgeFailure
from grader.judge import counted_calls
from grader.judge.at_home import judge_at_home
from grader.judge.messages import Failure, Returned
from grader.judge.runner_client import RunnerClient
from grader.languages import Language
from grader.sandbox.allowance import Allowance
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseReport, CaseVerdict, Flag, Report, Verdict, WorkloadReport
from tests.components import need
from tests.judge.kernels import RIGHT as TRITON
from tests.judge.kernels import with_solve

CUDA = """#include <cstdint>
__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) twice<<<(n + 255) / 256, 256>>>(x, out, n);
}
"""
# In functions that move their stack themselves, which no compiler makes.
STACK = 'uint64_t top; asm volatile("stacksave.u64 %0;" : "=l"(top));'
NUMPY = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, np.multiply(values, 2), mask=offsets < n)


def solve(x, out, n):
    if n:
        twice[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
"""
SCRATCH = """
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, out, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, factor * tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def solve(x, out, n):
    if n:
        between = torch.empty(n, dtype=x.dtype, device=x.device)
        copy[(triton.cdiv(n, 64),)](x, between, n, 2.0, BLOCK=64)
        copy[(triton.cdiv(n, 64),)](between, out, n, 1.0, BLOCK=64)
"""


# Two ways to the same result. One program uses one warp, one load after the other: fewest instructions,
# longest time.
TUNED = """
import triton
import triton.language as tl

WAYS = [triton.Config({"ALONE": True}, num_warps=1), triton.Config({"ALONE": False}, num_warps=8)]


@triton.autotune(WAYS, key=["n"])
@triton.jit
def twice(x, out, n, ALONE: tl.constexpr):
    first = tl.program_id(0) * 64
    last = n if ALONE else first + 64
    if not ALONE or first == 0:
        for start in range(first, last, 64):
            here = start + tl.arange(0, 64)
            tl.store(out + here, 2 * tl.load(x + here, mask=here < n), mask=here < n)


def solve(x, out, n):
    if n:
        twice[(triton.cdiv(n, 64),)](x, out, n)
"""


@pytest.fixture(autouse=True)
def _parts() -> None:
    need("emulator")


def judge(
    catalogue: Catalogue, boxes: BoxMaker, source: str, language: Language, timing: bool = False
) -> Report:
    return judge_at_home(catalogue.load("twice"), source, language, boxes, device=EMULATED, timing=timing)


def cuda(catalogue: Catalogue, boxes: BoxMaker, source: str, **options: bool) -> Report:
    need("nvcc")
    return judge(catalogue, boxes, source, Language.CUDA, **options)


def assert_unranked(report: Report) -> None:
    """Accepted without any time, with the reason."""
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.flags == [Flag.HOST_COMPUTED]
    assert report.workloads == []
    assert report.score.time_us is None
    assert "only kernels may compute the result" in report.score.unranked


def first_failure(report: Report) -> CaseReport:
    return next(case for case in report.cases if case.verdict is not CaseVerdict.ACCEPTED)


def test_a_time_is_the_models(catalogue: Catalogue, boxes: BoxMaker) -> None:
    times = []
    for language, source in ((Language.CUDA, CUDA), (Language.TRITON, TRITON)):
        if language is Language.CUDA:
            need("nvcc")
        reports = [judge(catalogue, boxes, source, language, timing=True) for _ in range(2)]
        assert [report.verdict for report in reports] == [Verdict.ACCEPTED] * 2, reports[0]
        first, second = (report.workloads[0] for report in reports)
        assert first.time_us == second.time_us, "the same on every run"
        assert first.ci_us == (first.time_us, first.time_us)
        assert first.baselines_us["eager"] > 0
        assert first.profile == second.profile, "so is what was counted"
        check_profile(first, language)
        times.append(first.time_us)
    assert min(filter(None, times)) > 1.8, "no launch is shorter"


def check_profile(workload: WorkloadReport, language: Language) -> None:
    """For a kernel that reads and writes each of n floats once."""
    n, profile = workload.sizes["n"], workload.profile
    assert profile is not None
    assert profile.time_us == pytest.approx(workload.time_us)
    assert sum(profile.parts_us.values()) == pytest.approx(workload.time_us)
    (kernel,) = profile.kernels
    sectors = -(-n // 8)
    assert (kernel.name, kernel.launches) == ("twice", 1)
    # A program of 64 elements has 128 threads, half of which repeat others' loads.
    again = 2 if language is Language.TRITON else 1
    assert (kernel.total.load_sectors, kernel.total.store_sectors) == (again * sectors, sectors)
    assert kernel.total.sectors_per_request == pytest.approx(4, rel=0.01)
    source = (CUDA if language is Language.CUDA else TRITON).splitlines()
    loads = [line.line for line in kernel.lines if line.load_requests]
    assert all("x" in source[line - 1] for line in loads)
    assert len(loads) == 1
    assert kernel.registers, "an assembler says it"
    if language is Language.CUDA:
        assert kernel.block == (256, 1, 1)


def test_a_stray_access_is_named(catalogue: Catalogue, boxes: BoxMaker) -> None:
    found = first_failure(cuda(catalogue, boxes, CUDA.replace("if (i < n) ", "")))
    assert found.verdict is CaseVerdict.RUNTIME_ERROR
    assert "Line 4: Thread " in found.detail
    assert "just past the end of x" in found.detail


def test_the_first_block_that_goes_wrong_is_recorded(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = cuda(catalogue, boxes, CUDA.replace("i < n", "i <= n"))
    recorded = [case for case in report.cases if case.step is not None]
    assert recorded == [first_failure(report)]
    step = recorded[0].step
    assert step is not None
    assert step.why == ""
    header = gzip.decompress(step.content)
    assert b'"kind_name":"out_of_bounds"' in header
    names = {lane.name for lane in step.lanes}
    assert names == {"x"}
    assert max(lane.byte for lane in step.lanes) == 4 * (recorded[0].sizes or {})["n"]
    assert not any(case.step for case in cuda(catalogue, boxes, CUDA).cases)


def test_a_program_that_leaves_an_element_out_is_recorded(catalogue: Catalogue, boxes: BoxMaker) -> None:
    source = TRITON.replace("mask=mask), mask=mask", "mask=mask), mask=offsets < n - 1")
    twice = catalogue.load("twice")
    report = judge_at_home(twice, source, Language.TRITON, boxes, device=EMULATED, timing=False, case="prime")
    (case,) = report.cases
    assert (
        "Program 1 would write it, but the mask of its store in line 11 is false there, comparing 100"
        in case.detail
    )
    assert case.step
    assert b'"kind_name":"not_stored"' in gzip.decompress(case.step.content)


def test_an_unknown_instruction_is_a_compile_error(catalogue: Catalogue, boxes: BoxMaker) -> None:
    strange = CUDA.replace("    if (i < n)", f"    {STACK}\n    if (i < n)")
    report = cuda(catalogue, boxes, strange)
    assert report.verdict is Verdict.COMPILE_ERROR
    assert (
        "solution.cu(4): error: the emulated GPU does not know the instruction 'stacksave.u64'"
        in report.detail
    )


def test_an_abort_of_the_host_code_is_reported(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = cuda(
        catalogue,
        boxes,
        CUDA.replace("#include <cstdint>", "#include <cstdint>\n#include <cstdlib>").replace(
            "    if (n > 0)", "    abort();\n    if (n > 0)"
        ),
    )
    assert "signal 6" in first_failure(report).detail or "SIGABRT" in first_failure(report).detail


def test_host_code_cannot_read_device_data(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = cuda(
        catalogue,
        boxes,
        CUDA.replace(
            "    if (n > 0)", "    for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i];\n    if (n > 0)"
        ),
    )
    failure = first_failure(report)
    assert re.match(r"Line \d+: The host code (reads x|writes out), which is device memory", failure.detail)


def test_a_missing_call_is_reported_with_its_line(catalogue: Catalogue, boxes: BoxMaker) -> None:
    call = "    cudaChannelFormatDesc is = cudaCreateChannelDesc<float>();\n    cudaMipmappedArray_t made;\n"
    missing = "    cudaMallocMipmappedArray(&made, &is, make_cudaExtent(4, 4, 4), 1);\n    if (n > 0)"
    source = CUDA.replace("    if (n > 0)", call + missing)
    line = 1 + source.splitlines().index(missing.splitlines()[0])
    failure = first_failure(cuda(catalogue, boxes, source))
    assert failure.detail == f"Line {line}: cudaMallocMipmappedArray is not on the emulated GPU."


def test_unfinished_work_on_a_stream_is_reported_with_its_line(catalogue: Catalogue, boxes: BoxMaker) -> None:
    created = (
        "    cudaStream_t own;\n    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);\n    if (n > 0)"
    )
    source = re.sub(r"<<<(.*?)>>>", r"<<<\1, 0, own>>>", CUDA.replace("    if (n > 0)", created, 1), count=1)
    line = next(number for number, text in enumerate(source.splitlines(), 1) if ", 0, own>>>" in text)
    failure = first_failure(cuda(catalogue, boxes, source))
    assert failure.verdict is CaseVerdict.WRONG_ANSWER
    assert failure.hint.startswith(
        f"solve returns before the work on its own stream is done, in line {line}: nothing waits for it."
    )


def test_code_that_tritons_compiler_refuses_is_refused(catalogue: Catalogue, boxes: BoxMaker) -> None:
    found = first_failure(judge(catalogue, boxes, NUMPY, Language.TRITON))
    assert found.verdict is CaseVerdict.RUNTIME_ERROR
    assert "Unsupported function referenced: <ufunc 'multiply'>" in found.detail


def test_a_stray_triton_access_is_named(catalogue: Catalogue, boxes: BoxMaker) -> None:
    source = TRITON.replace("mask=mask", "mask=None")
    assert source != TRITON
    found = first_failure(judge(catalogue, boxes, source, Language.TRITON))
    assert found.verdict is CaseVerdict.RUNTIME_ERROR
    assert "Program " in found.detail


def test_torch_tensors_can_be_passed_to_kernels(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = judge(catalogue, boxes, SCRATCH, Language.TRITON)
    assert report.verdict is Verdict.ACCEPTED, report


def test_autotuning_picks_the_fastest_by_the_model(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = judge(catalogue, boxes, TUNED, Language.TRITON, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    profile = report.workloads[0].profile
    assert profile is not None
    assert [(kernel.block, kernel.launches) for kernel in profile.kernels] == [((256, 1, 1), 1)]


def test_results_computed_on_the_host_have_no_rank(catalogue: Catalogue, boxes: BoxMaker) -> None:
    report = judge(catalogue, boxes, with_solve("    out.copy_(2 * x)"), Language.TRITON, timing=True)
    assert_unranked(report)
    filled = TRITON.replace("    if n:", "    out.zero_()\n    if n:").replace("tl.store(", "tl.atomic_add(")
    assert "zero_" in filled
    assert "atomic_add" in filled
    report = judge(catalogue, boxes, filled, Language.TRITON, timing=True)
    assert report.verdict is Verdict.ACCEPTED
    counted = report.workloads[0]
    assert counted.profile is not None
    assert (counted.profile.copies, counted.profile.copied_bytes) == (1, 4 * counted.sizes["n"]), "the zeros"


def test_cuda_results_computed_on_the_host_have_no_rank(catalogue: Catalogue, boxes: BoxMaker) -> None:
    taken = """#include <vector>
extern "C" void solve(const float* x, float* out, int64_t n) {
    std::vector<float> values(n);
    cudaMemcpy(values.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (auto& it : values) it *= 2;
    cudaMemcpy(out, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
"""
    report = cuda(catalogue, boxes, "#include <cstdint>\n" + taken, timing=True)
    assert_unranked(report)


def test_unfreed_memory_is_noted(catalogue: Catalogue, boxes: BoxMaker) -> None:
    leaking = CUDA.replace(
        "    if (n > 0)", "    void* scratch;\n    cudaMalloc(&scratch, 1000);\n    if (n > 0)"
    )
    report = cuda(catalogue, boxes, leaking)
    assert report.verdict is Verdict.ACCEPTED
    count = sum(not case.hidden for case in report.cases)
    assert count < len(report.cases), "a hidden case's leak is not told"
    assert report.remarks == [
        f"Not freed: {1000 * count:,} bytes in {count} allocations, allocated at line 8."
    ]


def test_output_of_counted_calls_is_reported_as_withheld(catalogue: Catalogue, boxes: BoxMaker) -> None:
    """It does not count as output of the first hidden case, which comes next."""
    says = '    if (i == 0 && n > SIZE) printf("n is %lld\\n", (long long)n);\n'
    printing = CUDA.replace("<cstdint>", "<cstdint>\n#include <cstdio>")
    printing = printing.replace("    if (i < n) out[i]", says + "    if (i < n) out[i]")
    largest = max(
        case.sizes["n"] for case in catalogue.load("twice").cases + catalogue.load("twice").hidden_cases
    )
    report = cuda(catalogue, boxes, printing.replace("SIZE", str(largest)), timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.remarks == ["Output printed while the work was counted is not shown; output of cases is."]
    assert [case.output for case in report.cases] == [""] * len(report.cases)
    shown = cuda(catalogue, boxes, printing.replace("SIZE", "0"), timing=False)
    assert shown.remarks == []
    sizes = [(case.sizes or {})["n"] for case in shown.cases]
    assert [case.output for case in shown.cases] == [f"n is {n}\n" if n else "" for n in sizes]


def test_no_time_is_below_the_data_transfer(
    catalogue: Catalogue, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.judge.modelled.least_of", lambda challenge, workload: 0.25)
    report = cuda(catalogue, boxes, CUDA, timing=True)
    assert report.verdict is Verdict.ACCEPTED
    assert [workload.time_us for workload in report.workloads] == [pytest.approx(0.25e6)] * len(
        report.workloads
    )
    assert Flag.ABOVE_ROOFLINE in report.flags
    assert any("less work was counted" in remark for remark in report.remarks)


@pytest.mark.parametrize("modelled", [True, False])
def test_only_the_emulated_gpu_can_report_our_failure(modelled: bool) -> None:
    """On any other device the runner is in the submission's process."""
    failure = Failure(kind="ours", type="emulator", message="KeyError: of ours")
    client = object.__new__(RunnerClient)
    message = Returned(op="returned", round=1, error=failure)
    client._channel = SimpleNamespace(expect=lambda *_: message)  # type: ignore[assignment]
    client._gate = SimpleNamespace(round=1, is_done=lambda: True)  # type: ignore[assignment]
    client._device = SimpleNamespace(modelled=modelled)  # type: ignore[assignment]
    if modelled:
        with pytest.raises(JudgeFailure, match="KeyError: of ours"):
            client._returned(0.0, Allowance(1.0))
    else:
        assert client._returned(0.0, Allowance(1.0)).failure is failure


class TestLargeWorkloads:
    """Protects a board whose times come from a sample of the blocks: differences in the others must show."""

    N = 1 << 22

    @pytest.fixture(autouse=True)
    def _only_samples(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(counted_calls, "WHOLE_INSTRUCTIONS", 1000)

    def timed(self, catalogue: Catalogue, boxes: BoxMaker, kernel: str, more: str = "") -> Report:
        need("nvcc")
        challenge = catalogue.load("twice")
        small = challenge.manifest.workloads
        large = Workload(name="large", on="emulated", sizes={"n": self.N})
        manifest = challenge.manifest.model_copy(update={"workloads": [*small, large], "limits": Limits()})
        source = CUDA.replace("if (i < n) out[i] = 2 * x[i];", kernel).replace(
            "if (n > 0)", f"{more} if (n > 0)"
        )
        return judge_at_home(
            replace(challenge, manifest=manifest),
            source,
            Language.CUDA,
            boxes,
            device=EMULATED,
        )

    def test_a_sample_is_timed(self, catalogue: Catalogue, boxes: BoxMaker) -> None:
        report = self.timed(catalogue, boxes, "if (i < n) out[i] = 2 * x[i];")
        assert report.verdict is Verdict.ACCEPTED, report
        (workload,) = report.workloads
        assert workload.name == "large"
        assert workload.profile is not None
        (kernel,) = workload.profile.kernels
        assert 0 < kernel.counted_blocks < kernel.blocks / 2
        assert kernel.total.load_sectors == pytest.approx(self.N / 8)

    @pytest.mark.parametrize(
        "kernel",
        [
            "if (i < n) out[i] = (n > 1000000 ? 3 : 2) * x[i];",
            "if (i < n && (n < 1000000 || i < n - n / 8)) out[i] = 2 * x[i];",
        ],
    )
    def test_large_sizes_are_checked(self, catalogue: Catalogue, boxes: BoxMaker, kernel: str) -> None:
        report = self.timed(catalogue, boxes, kernel)
        assert report.verdict is Verdict.WRONG_ANSWER, report

    def test_results_that_blocks_combine_are_checked_whole(
        self, catalogue: Catalogue, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cleared = "cudaMemsetAsync(out, 0, n * sizeof(float));"
        right = self.timed(catalogue, boxes, "if (i < n) atomicAdd(out + i, 2 * x[i]);", cleared)
        assert right.verdict is Verdict.ACCEPTED, right
        monkeypatch.setattr(counted_calls, "ONCE_INSTRUCTIONS", 1000)
        wrong = self.timed(
            catalogue,
            boxes,
            "if (i < n && (n < 1000000 || i > n / 50)) atomicAdd(out + i, 2 * x[i]);",
            cleared,
        )
        assert wrong.verdict is Verdict.WRONG_ANSWER, wrong
