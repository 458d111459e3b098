"""Cases for a GPU alone on the board ``emulated``: it refuses what a card refuses, and right kernels pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import NAN, At, Case, Category, Choice, Derived, Sprinkle
from grader.challenge.catalogue import find_catalogue
from grader.challenge.model import Argument
from grader.challenge.pattern import can_be_sampled, draw_pattern
from grader.device_kinds import EMULATED
from grader.judge.at_home import judge_at_home
from grader.judge.device import make_device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseReport, CaseVerdict, Checked, Report, Verdict, large_sizes
from tests.components import need

REFERENCE = Path(__file__).parents[2] / "reference"
BEYOND = "beyond_2_31"
# Beyond 2^31 elements. The rest modulo 4096 selects one of the kernels: one compilation does for all.
FIRST = (1 << 31) + 1000
RIGHT = ("in order", "backwards", "with a stride")
WRONG = {
    "index": "Line 6: Thread 0 of block 8388611 reads 4 bytes 8,589,931,516 bytes before the beginning of b",
    "guarded": "Element 2,147,483,648 of out and those after it were never written.",
    "wrapped": "Element 2,147,483,648 of out and those after it were never written.",
    "capped": "About 0.78% of out is written by all blocks of the grid together.",
    "none": "Nothing of out is written by all blocks of the grid together.",
    "along y": "A launch has a grid of 1 x 8,388,6",
    "beyond": "out[2147483648] is ",
    "input": "The input b[2147483648] was changed from",
}
# Right. Of the first, blocks that would take the last elements in order have none left: so many more, that they are
# several. The second copies more than is copied here. The third reads what blocks outside the sample write.
CHUNKS, MORE = "in chunks", 1 << 22
UNDECIDED = {
    CHUNKS: "none of the blocks that ran works on element 2,147,483,648",
    "of a copy": "a copy of 8,589,938,640 bytes is too much to be done here",
    "of another launch": "a result that several blocks or launches combine needs all of them",
}
ADD = """#include <cstdint>
#include <cuda_pipeline.h>
enum Way {ORDER, BACKWARDS, STRIDE, INDEX, GUARDED, WRAPPED, CAPPED, NONE, ALONG_Y, BEYOND, INPUT, CHUNKS, COPY, AFTER};
#define NARROW int i = blockIdx.x * 256 + threadIdx.x; if (i < n && (way == INDEX || i >= 0)) out[i] = a[i] + b[i]
template <Way way> __global__ void add(const float* a, const float* b, float* out, int64_t n) {
    if (way == INDEX || way == GUARDED) { NARROW; return; }
    if (way == CHUNKS) {
        const int64_t threads = 256ll * gridDim.x, each = (n + threads - 1) / threads;
        const int64_t first = (blockIdx.x * 256ll + threadIdx.x) * each;
        for (int64_t i = first; i < n && i < first + each; i++) out[i] = a[i] + b[i];
        return;
    }
    int64_t block = way == BACKWARDS ? gridDim.x - 1 - blockIdx.x : blockIdx.x + blockIdx.y;
    int64_t i = block * 256 + threadIdx.x;
    if (way == WRAPPED) i &= 0x7fffffff;
    for (; i < n; i += 256 * int64_t(gridDim.x)) {
        if (way == INPUT && i >= 1ll << 31) ((float*)b)[i] = 0;
        out[i] = a[i] + b[i] + (way == BEYOND && i >= 1ll << 31);
        if (way != STRIDE) break;
    }
}
__global__ void prepare(const float* a, float* copy, int64_t n) {
    const int64_t i = (gridDim.x - 1ll - blockIdx.x) * 256 + threadIdx.x;
    if (i < n) copy[i] = __uint_as_float(~__float_as_uint(a[i]));
}
__global__ void add_prepared(const float* copy, const float* b, float* out, int64_t n) {
    __shared__ float tile[256];
    const int64_t i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    __pipeline_memcpy_async(&tile[threadIdx.x], &copy[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[i] = __uint_as_float(~__float_as_uint(tile[threadIdx.x])) + b[i];
}
template <Way way> void launch(const float* a, const float* b, float* out, int64_t n) {
    const unsigned blocks = (n + 255) / 256;
    if (way == NONE) return;
    float* copy;
    if (way == AFTER) {
        cudaMalloc(&copy, n * sizeof(float));
        prepare<<<blocks, 256>>>(a, copy, n);
        add_prepared<<<blocks, 256>>>(copy, b, out, n);
        cudaFree(copy);
        return;
    }
    if (way == COPY) {
        cudaMalloc(&copy, n * sizeof(float));
        cudaMemcpy(copy, a, n * sizeof(float), cudaMemcpyDeviceToDevice);
        a = copy;
    }
    const unsigned few = way == STRIDE ? 4096 : way == CHUNKS ? 65536 : way == CAPPED ? 65535 : blocks;
    dim3 grid(way == ALONG_Y ? 1 : few, way == ALONG_Y ? blocks : 1);
    add<way><<<grid, 256>>>(a, b, out, n);
    if (way == COPY) cudaFree(copy);
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    using Launch = void (*)(const float*, const float*, float*, int64_t);
    const Launch ways[] = {
        launch<ORDER>, launch<BACKWARDS>, launch<STRIDE>, launch<INDEX>, launch<GUARDED>, launch<WRAPPED>,
        launch<CAPPED>, launch<NONE>, launch<ALONG_Y>, launch<BEYOND>, launch<INPUT>, launch<CHUNKS>,
        launch<COPY>, launch<AFTER>,
    };
    ways[(n - ((1ll << 31) + 1000)) % 4096](a, b, out, n);
}
"""
TRITON = """
import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0){wide} * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


def solve(a, b, out, n):
    {ahead}
    add[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
"""


@pytest.fixture(autouse=True)
def _parts() -> None:
    need("emulator")


def judge(boxes: BoxMaker, source: str, language: Language, slug: str = "vector_add") -> Report:
    if language is Language.CUDA:
        need("nvcc")
    challenge = find_catalogue().load(slug)
    return judge_at_home(challenge, source, language, boxes, device=EMULATED, case=BEYOND)


def the_case(report: Report) -> CaseReport:
    (case,) = report.cases
    return case


def test_right_kernels_pass_and_wrong_ones_do_not(boxes: BoxMaker) -> None:
    need("nvcc")
    names = [*RIGHT, *WRONG, *UNDECIDED]
    cases = [
        Case(
            name,
            Category.LARGE,
            {"n": FIRST + place + MORE * (name == CHUNKS)},
            {"a": At(NAN, (-1,))},
            on="gpu",
        )
        for place, name in enumerate(names)
    ]
    challenge = find_catalogue().load("vector_add")
    request = Request(challenge, Language.CUDA, ADD, EMULATED, b"key", cases, timing=False)
    session = Session(request, make_device(EMULATED), boxes, lambda _: None, lambda: None)
    report = session.run().report
    assert report.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR), report
    found = {case.name: case for case in report.cases}
    for name in RIGHT:
        assert found[name].verdict is CaseVerdict.ACCEPTED, found[name]
        assert found[name].checked is Checked.SAMPLE
    for name, said in WRONG.items():
        assert found[name].verdict.failed, name
        assert said in found[name].detail, name
    for name, said in UNDECIDED.items():
        assert found[name].verdict is CaseVerdict.NOT_COVERED, found[name]
        assert said in found[name].detail
    assert report.large_sizes is not None
    assert report.large_sizes.sentence == "3 of 14 (3 not covered; only sampled blocks and what they write)"


def test_triton_indices_beyond_32_bits_are_caught(boxes: BoxMaker) -> None:
    right = judge(boxes, TRITON.format(wide=".to(tl.int64)", ahead=""), Language.TRITON)
    assert right.verdict is Verdict.ACCEPTED, right
    narrow = judge(boxes, TRITON.format(wide="", ahead=""), Language.TRITON)
    assert "Line 9: Program 2101249 reads 4 bytes 8,573,153,276 bytes before the beginning of a" in (
        the_case(narrow).detail
    )
    assert "compute it in 64 bits" in the_case(narrow).hint


def test_host_use_of_the_arrays_is_not_covered(boxes: BoxMaker) -> None:
    report = judge(boxes, TRITON.format(wide=".to(tl.int64)", ahead="out[0] = 0"), Language.TRITON)
    case = the_case(report)
    assert case.verdict is CaseVerdict.NOT_COVERED, report
    assert "solve uses the arrays outside its kernels" in case.detail
    assert report.verdict is Verdict.ACCEPTED, "it is not refused for that"
    assert (report.score.passed, report.score.total) == (0, 0), "nor does it count as passed"
    assert report.large_sizes is not None
    assert report.large_sizes.sentence.startswith("0 of 1 (1 not covered")


def test_a_grid_wide_result_is_checked_for_faults_only(boxes: BoxMaker) -> None:
    source = (REFERENCE / "reduce_sum/staff/mutants/index_of_32_bits.cu").read_text()
    refused = judge(boxes, source, Language.CUDA, "reduce_sum")
    assert the_case(refused).detail == "Nothing of x is read by all blocks of the grid together.", refused
    source = (REFERENCE / "reduce_sum/staff/solution.cu").read_text()
    passed = judge(boxes, source, Language.CUDA, "reduce_sum")
    assert the_case(passed).verdict is CaseVerdict.ACCEPTED, passed
    assert the_case(passed).checked is Checked.FAULTS
    assert passed.large_sizes is not None
    assert "its values are not compared" in passed.large_sizes.sentence


def test_a_pattern_follows_its_recipe() -> None:
    manifest = find_catalogue().load("vector_add").manifest
    n = (1 << 31) + 1000
    case = Case("large", Category.LARGE, {"n": n}, {"a": At(NAN, (-1, 7), Choice((1.0, 2.0)))}, on="gpu")
    arg: Argument = manifest.buffers[0]
    pattern = draw_pattern(manifest, case, arg, 42)
    length = pattern.values.numel()
    assert all(length % number for number in range(2, 1000)), "a step of a wrong index is no multiple of it"
    places = torch.tensor([7, 8, 8 + length, 8 + 1000 * length, n - 1])
    values = pattern.at(places)
    assert values.isnan().tolist() == [True, False, False, False, True]
    assert values[1] == values[2] == values[3] == pattern.values[8]
    assert torch.equal(pattern.values, draw_pattern(manifest, case, arg, 42).values)
    assert draw_pattern(manifest, case, arg, 43).values.numel() != length


class _Other:
    def derive(self, *_: object) -> torch.Tensor:
        raise AssertionError

    def words(self) -> str:
        return ""


def test_the_expected_cases_are_sampled() -> None:
    catalogue = find_catalogue()
    found = {
        slug: [case.name for case in challenge.cases if case.on and can_be_sampled(challenge.manifest, case)]
        for slug in catalogue.slugs()
        for challenge in [catalogue.load(slug)]
    }
    both = ["odd_as_timed", BEYOND]
    expected = dict.fromkeys(
        (
            "adam_step", "argmax_rows", "conv1d", "conv2d", "cross_entropy", "dot", "gelu", "group_norm",
            "inclusive_scan", "layernorm", "log_softmax", "reduce_sum", "relu", "rmsnorm", "rope", "saxpy",
            "stream_compact", "topk_rows", "transpose", "vector_add",
        ),
        both,
    )  # fmt: skip
    expected |= {"coo_to_csr": ["one_row_beyond_2_24", "most_entries"], "int8_matmul": [BEYOND]}
    expected |= {"linear_gelu": [BEYOND], "sparse_2_4": ["odd_as_timed", BEYOND]}
    assert {slug: names for slug, names in found.items() if names} == expected
    assert isinstance(_Other(), Derived)
    case = Case("large", Category.LARGE, {"n": 1 << 31}, {"a": _Other()}, on="gpu")
    manifest = catalogue.load("vector_add").manifest
    assert not can_be_sampled(manifest, case), "one that depends on other inputs has no pattern"
    case = replace(case, inputs={"a": Sprinkle(NAN)})
    assert can_be_sampled(manifest, case)
    assert not can_be_sampled(manifest, replace(case, hidden=True)), (
        "a submission must not choose what is covered"
    )


def test_hidden_large_cases_are_not_grouped() -> None:
    hidden = CaseReport(name="h", category="large", verdict=CaseVerdict.ACCEPTED, hidden=True, on="gpu")
    assert large_sizes([hidden]) is None
