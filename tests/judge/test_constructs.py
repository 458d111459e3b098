"""Rules for compiled code, decided by the kernels' execution on the emulated GPU, with the line that breaks one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from grader.authoring.candidates import Candidate
from grader.authoring.trial import Trial
from grader.challenge.cases import Category
from grader.challenge.catalogue import Catalogue
from grader.challenge.constructs import Constructs
from grader.challenge.loader import Challenge
from grader.challenge.model import Grading, Group
from grader.device_kinds import CPU, EMULATED
from grader.judge.assembly import case_groups
from grader.judge.at_home import judge_at_home
from grader.judge.constructs import Watched, broken_rules, unchecked
from grader.judge.device import make_device
from grader.judge.messages import ConstructPlace
from grader.judge.messages import Constructs as Seen
from grader.judge.request import Request
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.emulator.constructs import names_of
from grader.schemas.proof import CandidateOutcome, CandidateRole
from grader.schemas.report import CaseReport, CaseVerdict, Report, Verdict
from tests.components import need

Judge = Callable[..., Report]
LAUNCH = """
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) product<<<1, 32>>>(out);
    if (n > 0) twice<<<(n + 255) / 256, 256>>>(x, out, n);
}
"""
# Every construct; the tensor cores are in a kernel that is not launched.
EVERYTHING = """#include <cstdint>
#include <cooperative_groups.h>
__device__ unsigned counter;
__global__ void product(float* out) {
    unsigned d[2], zero = 0;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %2}, {%2}, {%2, %2};"
        : "=r"(d[0]), "=r"(d[1]) : "r"(zero));  // its line
    if (d[0]) out[0] = d[0];
}
__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    __shared__ float kept[256];
    __shared__ __align__(16) float copied[4];
    if (threadIdx.x == 0 && n >= 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
            :: "r"((unsigned)__cvta_generic_to_shared(copied)), "l"(x));  // copied here
    asm volatile("cp.async.wait_all;");
    kept[threadIdx.x] = i < n ? x[i] : 0;
    float other = __shfl_xor_sync(~0u, kept[threadIdx.x], 1);
    if (i >= n) return;
    auto group = cooperative_groups::coalesced_threads();
    if (group.thread_rank() == 0) atomicAdd(&counter, group.size());
    out[i] = other == 12345 ? x[i] / 3.0 : 2 * kept[threadIdx.x];
    out[i] = out[i] * 1.1 / 1.1 > 1e30 ? 0 : out[i];
    asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(out + i), "f"(0.0f) : "memory");
}
""" + LAUNCH.replace("if (n > 0) product", "// product")
# Tensor cores, and atomics that no case executes.
CLEAN = (
    """#include <cstdint>
#include <mma.h>
__global__ void product(float* out) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(a, __float2half(0.0f));
    wmma::fill_fragment(b, __float2half(0.0f));
    wmma::fill_fragment(c, 0.0f);
    wmma::mma_sync(c, a, b, c);
    if (c.x[0] != 0) out[0] = c.x[0];
}
__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
    if (sizeof(float) == 8) atomicAdd(out, 1.0f);
    if (gridDim.y == 7) atomicAdd(out, 2.0f);
}
"""
    + LAUNCH
)
TRITON = """
import torch
import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n)
    BODY


def solve(x, out, n):
    if n:
        twice[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
"""


def challenge(catalogue: Catalogue, **rules: object) -> Challenge:
    found = catalogue.load("twice")
    manifest = found.manifest.model_copy(update={"constructs": Constructs.model_validate(rules)})
    return replace(found, manifest=manifest)


@pytest.fixture
def cuda(catalogue: Catalogue, boxes: BoxMaker) -> Judge:
    need("emulator")
    need("nvcc")

    def run(source: str, **rules: object) -> Report:
        asked = challenge(catalogue, **rules)
        return judge_at_home(asked, source, Language.CUDA, boxes, device=EMULATED, timing=False)

    return run


@pytest.fixture
def triton(catalogue: Catalogue, boxes: BoxMaker) -> Judge:
    need("emulator")

    def run(body: str, *, device: str = EMULATED, timing: bool = False, **rules: object) -> Report:
        asked, source = challenge(catalogue, **rules), TRITON.replace("BODY", body)
        return judge_at_home(asked, source, Language.TRITON, boxes, device=device, timing=timing)

    return run


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def test_each_construct_is_found_at_its_line_whatever_library_or_assembly_it_comes_from(cuda: Judge) -> None:
    lines = {
        "atomics": line_of(EVERYTHING, "atomicAdd"),
        "shared_memory": line_of(EVERYTHING, "// copied here"),
        "async_copies": line_of(EVERYTHING, "// copied here"),
        "warp_shuffles": line_of(EVERYTHING, "__shfl_xor_sync"),
        "double_precision": line_of(EVERYTHING, "/ 3.0"),
    }
    report = cuda(EVERYTHING, forbid=[*lines, "tensor_cores", "library_calls", "spills"])
    assert report.verdict is Verdict.BROKEN_RULE
    found = {rule.name: rule for rule in report.broken_rules}
    assert list(found) == list(lines)
    assert {name: rule.line for name, rule in found.items() if name != "double_precision"} == {
        name: line for name, line in lines.items() if name != "double_precision"
    }
    assert found["double_precision"].line in (lines["double_precision"], lines["double_precision"] + 1)
    atomics = found["atomics"]
    assert atomics.sentence.startswith(f"Line {lines['atomics']} of kernel twice uses atomics (")
    assert atomics.sentence.endswith("this challenge forbids atomics.")
    assert atomics.sentence in report.detail
    assert cuda(EVERYTHING, require=list(lines)).verdict is Verdict.ACCEPTED


def test_tensor_cores_must_be_used_by_a_kernel_that_is_launched(cuda: Judge) -> None:
    report = cuda(EVERYTHING, require=["tensor_cores"])
    (rule,) = report.broken_rules
    assert report.verdict is Verdict.BROKEN_RULE
    assert "No kernel uses tensor cores in any of" in rule.sentence
    assert "Looked at the executed instructions of twice." in rule.sentence
    line = line_of(EVERYTHING, "// its line")
    assert f"Line {line} has one (mma.sync.aligned.m16n8k8" in rule.sentence
    assert rule.line == line


def test_what_is_compiled_out_or_never_executed_breaks_no_rule(cuda: Judge) -> None:
    assert cuda(CLEAN, forbid=["atomics"], require=["tensor_cores"]).verdict is Verdict.ACCEPTED
    dummy = {"what": "tensor_cores", "share": 0.5}
    share, rule = cuda(CLEAN, launches={"most": 1}, require=[dummy]).broken_rules
    assert share.sentence.startswith("Tensor cores do at most 0% of the operations in the ")
    assert share.sentence.endswith(" of kernel twice has most of these (add.f32)."), share.sentence
    assert share.line == line_of(CLEAN, "2 * x[i]")
    assert "solve launches 2 kernels in case" in rule.sentence
    assert "this challenge allows 1" in rule.sentence
    assert rule.line == line_of(CLEAN, "twice<<<")
    assert cuda(CLEAN, launches={"most": 2}).verdict is Verdict.ACCEPTED


def test_a_timed_workload_is_watched_too_and_a_wrong_answer_comes_first(
    triton: Judge, catalogue: Catalogue
) -> None:
    (workload, *_) = catalogue.load("twice").manifest.timed_on("emulated")
    at_large = f"""if n == {workload.sizes["n"]}:
        tl.atomic_add(out + offsets, 0.0, mask=offsets < n)
    tl.store(out + offsets, 2 * values, mask=offsets < n)"""
    report = triton(at_large, timing=True, forbid=["atomics"])
    assert report.verdict is Verdict.BROKEN_RULE, report.detail
    assert f"in workload {workload.name}" in report.detail
    wrong = triton("tl.atomic_add(out + offsets, values, mask=offsets < n)", forbid=["atomics"])
    assert (wrong.verdict, wrong.broken_rules) == (Verdict.WRONG_ANSWER, [])


def test_triton_is_held_to_its_compiled_code_on_the_board_of_its_interpreter_too(triton: Judge) -> None:
    right = "tl.store(out + offsets, 2 * values, mask=offsets < n)"
    atomic = f"tl.atomic_add(out + offsets, 0.0, mask=offsets < n)\n    {right}"
    (rule,) = triton(atomic, device=CPU, forbid=["atomics"]).broken_rules
    assert (rule.line, rule.kernel) == (line_of(TRITON.replace("BODY", atomic), "tl.atomic_add"), "twice")
    product = """square = tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float16))
    tl.store(out + offsets, 2 * values + tl.sum(square), mask=offsets < n)"""
    report = triton(product, require=["tensor_cores"], forbid=["library_calls"])
    assert report.verdict is Verdict.ACCEPTED, report.detail


def test_check_holds_the_staffs_solution_to_the_rules(catalogue: Catalogue, boxes: BoxMaker) -> None:
    need("emulator")
    trial = Trial(
        challenge(catalogue, require=["tensor_cores"], forbid=["library_calls"]), make_device(CPU), boxes
    )
    source = "def solve(x, out, n):\n    out.copy_(2 * x)\n"
    for role, ending in (
        (CandidateRole.SOLUTION, CandidateOutcome.FAILED),
        (CandidateRole.NATIVE, CandidateOutcome.ACCEPTED),
    ):
        result = trial.try_out(Candidate(role, "solution.py", Language.TRITON, source), every_case=True)
        assert result.ending is ending
        assert ("forbids library calls" in result.detail) is (ending is CandidateOutcome.FAILED)


def test_what_cannot_be_checked_is_said_and_has_no_rank(
    catalogue: Catalogue, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.judge.watched_elsewhere.is_built", lambda: False)
    asked = challenge(catalogue, forbid=["atomics"])
    source = "def solve(x, out, n):\n    out.copy_(2 * x)\n"
    report = judge_at_home(asked, source, Language.TRITON, boxes, device=CPU)
    assert report.verdict is Verdict.ACCEPTED
    assert "Not checked, so it has no rank: It must not use atomics" in report.score.unranked
    assert report.score.time_us is None


def test_a_broken_rule_earns_no_points_of_groups(catalogue: Catalogue) -> None:
    asked = challenge(catalogue, forbid=["atomics"])
    groups = [Group(name="small", points=40, categories=[Category.BASIC])]
    asked = replace(asked, manifest=asked.manifest.model_copy(update={"grading": Grading(groups=groups)}))
    cases = asked.cases[:1]
    request = Request(asked, Language.TRITON, "", EMULATED, bytes(32), cases)
    reports = [CaseReport(name=cases[0].name, category="basic", verdict=CaseVerdict.ACCEPTED)]
    small, rest = case_groups(request, reports, Verdict.BROKEN_RULE)
    assert (small.points, rest.points, small.right) == (0, 0, 1)
    assert small.sentence == "nothing, because a rule of the challenge is broken"
    assert [group.points for group in case_groups(request, reports, Verdict.ACCEPTED)] == [40, 60]


@pytest.mark.parametrize(
    ("tensor", "others", "done"),
    [
        (8192, 0, None),
        (600, 100, None),
        (400, 0, "40%"),
        (8192, 900, "10%"),  # the results do not come from the tensor cores
        (8192, 5000, "0%"),
    ],
)
def test_tensor_cores_must_do_their_share(
    catalogue: Catalogue, tensor: int, others: int, done: str | None
) -> None:
    asked = challenge(catalogue, require=["shared_memory", {"what": "tensor_cores", "share": 0.5}])
    case = replace(asked.cases[0], sizes={"n": 1000})
    request = Request(asked, Language.TRITON, "", EMULATED, bytes(32), [case, *asked.cases[1:]])
    used = [
        ConstructPlace(what=what, kernel="k", line=3, text="") for what in asked.manifest.constructs.required
    ]
    place = ConstructPlace(what="arithmetic", kernel="k", line=9, text="fma.rn.f32")
    seen = Seen(launches=1, executed=used, tensor_flops=tensor, other_flops=others, most_other=place)
    said = [rule.sentence for rule in broken_rules(request, Watched({case.name: seen}))]
    assert bool(said) is (done is not None)
    if said:
        assert said[0].startswith(
            f"Tensor cores do at most {done} of the operations in the case: this challenge"
        )
        assert f"It takes 1,000; they executed {tensor:,}, other instructions {others:,}." in said[0]
        assert ("Line 9 of kernel k has most of these (fma.rn.f32)." in said[0]) is (others > 0)


def test_spills_without_an_assembler_are_not_checked(catalogue: Catalogue) -> None:
    asked = challenge(catalogue, forbid=["spills"])
    request = Request(asked, Language.TRITON, "", EMULATED, bytes(32), asked.cases)
    watched = Watched({"basic": Seen(launches=1, spills_known=False)})
    assert "no assembler" in unchecked(request, watched)
    place = ConstructPlace(what="spills", kernel="twice", line=3, text="24")
    assert not unchecked(request, Watched({"basic": Seen(launches=1, executed=[place])}))


@pytest.mark.parametrize(
    ("opcode", "names"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ["tensor_cores"]),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", ["tensor_cores", "shared_memory"]),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", ["shared_memory"]),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", ["shared_memory"]),
        ("atom.shared.add.u32", ["shared_memory", "atomics"]),
        (
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32",
            ["shared_memory", "atomics"],
        ),
        ("redux.sync.add.s32", ["warp_shuffles"]),
        ("cp.async.commit_group", []),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
            ["shared_memory", "async_copies"],
        ),
        ("cvt.f64.f32", []),
        ("ld.global.f64", []),
        ("fma.rn.f64", ["double_precision"]),
        ("st.global.u32", []),
    ],
)
def test_an_instruction_belongs_to_its_constructs(opcode: str, names: list[str]) -> None:
    name, *modifiers = opcode.split(".")
    assert list(names_of(name, modifiers)) == names


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"require": ["atomics"], "forbid": ["atomics"]}, "more than once"),
        ({"require": ["library_calls"]}, "only be forbidden"),
        ({"require": ["spills"]}, "only be forbidden"),
        ({"require": [{"what": "atomics", "share": 0.5}]}, "only operations of tensor cores are counted"),
        ({"require": ["tensor_cores", {"what": "tensor_cores", "share": 0.5}]}, "more than once"),
        ({"require": [{"what": "tensor_cores", "share": 1}]}, "less than 1"),
        ({"forbid": ["recursion"]}, "tensor_cores"),
        ({"launches": {"most": 0}}, "greater than or equal to 1"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Constructs.model_validate(rules)
