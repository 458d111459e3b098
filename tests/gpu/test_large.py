"""Cases for a GPU only: on a card of 80 GB each fits next to the judge's memory. And kernels for them that
Triton compiles for long.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
import torch

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseReport, CaseVerdict

# Such a card's memory, roughly.
CARD_BYTES = 79 * 10**9
# Above the judge's own pieces (``grader.judge.cuda.memory_needs``), below one whole array of 2^31 floats.
PEAK_BYTES = 5 * limits.GIB
# A row is one block: of half a million elements at the largest sizes.
SOFTMAX = """
import torch
import triton
import triton.language as tl

@triton.jit
def one_block(x, out, cols, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    places = tl.arange(0, BLOCK)
    row = tl.load(x + first + places, mask=places < cols, other=-float("inf"))
    row = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + first + places, row / tl.sum(row, axis=0), mask=places < cols)

def solve(x, out, rows, cols):
    if rows and cols:
        block = triton.next_power_of_2(cols)
        one_block[(rows,)](x, out, cols, BLOCK=block, num_warps=16 if block > 1024 else 4)
"""
TUNED = SOFTMAX.replace(
    "@triton.jit\n",
    '@triton.autotune([triton.Config({}, num_warps=count) for count in (16, 32)], key=["BLOCK"])\n@triton.jit\n',
).replace(", num_warps=16 if block > 1024 else 4", "")
# Right in every case that cards of 80 GB ran while they left this one out.
SHORT_INDEX = """#include <cstdint>
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 0 && i < n) out[i] = a[i] + b[i];
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
"""
# Claims to compile, and does nothing.
LIAR = """
import sys
import time

def solve(x, out, rows, cols):
    sys.modules["compiling"]._watch._report("a kernel of mine")
    time.sleep(1000)
"""


def judged(
    device: Device,
    boxes: BoxMaker,
    challenge: Challenge,
    source: str,
    names: Sequence[str],
    language: Language = Language.TRITON,
) -> list[CaseReport]:
    cases = [challenge.case(name) for name in names]
    request = Request(challenge, language, source, device.name, b"large" * 8, cases, timing=False)
    session = Session(request, device, boxes, lambda _: None, lambda: None)
    return session.run().report.cases


def test_no_case_is_left_out_on_80_gb(device: Device, served: Catalogue) -> None:
    if torch.cuda.get_device_properties(0).total_memory < CARD_BYTES:
        pytest.skip("a smaller card")
    challenges = [served.load(slug) for slug in served.slugs()]
    plan = device.memory_plan
    assert plan is not None
    reasons = [
        plan.case_shortage(challenge, case)
        for challenge in challenges
        for case in challenge.suite("gpu")
        if case.on
    ]
    assert len(reasons) > 30
    assert [reason for reason in reasons if reason] == []


@pytest.mark.parametrize(
    ("slug", "file"),
    [
        ("vector_add", "solution.cu"),
        ("vector_add", "solution.py"),
        ("vector_add", "an index of 32 bits"),
        ("saxpy", "solution.cu"),
        ("transpose", "solution.cu"),
        ("stream_compact", "solution.cu"),
        ("inclusive_scan", "solution.cu"),
        ("dot", "solution.cu"),
    ],
)
def test_beyond_2_31_is_judged_by_pieces(
    device: Device, boxes: BoxMaker, served: Catalogue, slug: str, file: str
) -> None:
    wrong = not file.startswith("solution")
    source = SHORT_INDEX if wrong else (served.root / "reference" / slug / "staff" / file).read_text()
    language = Language.TRITON if file.endswith(".py") else Language.CUDA
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before, began = torch.cuda.memory_allocated(), time.perf_counter()
    (found,) = judged(device, boxes, served.load(slug), source, ["beyond_2_31"], language)
    peak, took = torch.cuda.max_memory_allocated() - before, time.perf_counter() - began
    print(f"{slug} {file}: {found.verdict}, {took:.1f} s, the judge's own peak {peak / limits.GIB:.2f} GiB")
    assert peak < PEAK_BYTES
    if not wrong:
        assert found.verdict is CaseVerdict.ACCEPTED, found.detail
        return
    assert (found.verdict, found.mismatch and found.mismatch.index) == (CaseVerdict.WRONG_ANSWER, [2**31])


@pytest.mark.parametrize("source", [SOFTMAX, TUNED], ids=["one", "tuned"])
def test_what_takes_long_to_compile_is_accepted_and_compiled_once(
    device: Device, boxes: BoxMaker, served: Catalogue, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """Longer than loading a library or a call may take; the next case of the same kernel is quick."""
    monkeypatch.setattr(limits, "COMPILE_SECONDS", 1.0)
    softmax, began = served.load("softmax"), time.perf_counter()
    names = ["odd_as_timed", "odd_as_timed"]
    whole = judged(device, boxes, softmax, source, names[:1])
    once = time.perf_counter() - began
    again = judged(device, boxes, softmax, source, names)
    twice = time.perf_counter() - began - once
    print(f"judged once in {once:.1f} s, twice in one box in {twice:.1f} s")
    for found in (*whole, *again):
        assert found.verdict is CaseVerdict.ACCEPTED, found.detail
    assert once > limits.CASE_SECONDS, "this was to take longer to compile than a call may take"
    assert twice < 1.5 * once + 5


@pytest.mark.parametrize("source", [SOFTMAX, LIAR], ids=["slow", "liar"])
def test_a_compilation_that_is_too_long_is_named(
    device: Device, boxes: BoxMaker, served: Catalogue, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr(limits, "COMPILE_SECONDS", 1.0)
    monkeypatch.setattr(limits, "KERNELS_OF_CALL_SECONDS", 12.0)
    began = time.perf_counter()
    (found,) = judged(device, boxes, served.load("softmax"), source, ["odd_as_timed"])
    kernel = "a kernel of mine" if source is LIAR else "one_block for BLOCK=524288, num_warps=16"
    assert (found.verdict, found.detail) == (
        CaseVerdict.TIME_LIMIT,
        f"Compiling {kernel} took longer than the 12 s for compiling.",
    )
    assert time.perf_counter() - began < 45
