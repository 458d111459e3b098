"""The hint for a wrong CUDA kernel names its mistake.

The kernels are in ``mistaken``. A few are compiled and judged on the emulated board; the others are read
together with their wrong numbers or error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.judge.explaining.cuda.mistakes import CudaMistakes
from grader.judge.explaining.cuda.source import read
from grader.judge.explaining.wrong import Pattern
from grader.judge.messages import Failure
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseVerdict, Mismatch, WorstElement
from tests.components import need
from tests.judge.case_judge import CaseJudge

ROOT = Path(__file__).parents[3]
KERNELS = Path(__file__).parent / "mistaken"
# Challenge, case, and the case's hint.
JUDGED: dict[str, tuple[str, str, str]] = {
    "shared_bins": (
        "histogram",
        "basic",
        "Line 11 reads local[values[place]], changes it and stores it: whatever another thread stores in between",
    ),
    "argmax_from_zero": (
        "argmax_rows",
        "all_negative",
        "Here all values are negative, and 0 is above all of them. Line 7 starts the maximum best at 0",
    ),
    "operand_transposed": ("matmul", "basic", "Line 10 multiplies a row of b by k: b has the shape [k, n]"),
    "bfloat16_sum": ("matmul_bf16", "basic", "Line 9 adds up in result, which has 16 bits"),
    "result_first": ("saxpy", "basic", "solve takes (y, x, alpha, n), and the judge passes (x, y, alpha, n)"),
}


@pytest.fixture(scope="module")
def judge(local_boxes: BoxMaker) -> Iterator[CaseJudge]:
    need("nvcc")
    need("emulator")
    judge = CaseJudge(local_boxes, Language.CUDA)
    yield judge
    judge.close()


@pytest.mark.parametrize("name", JUDGED)
def test_the_hint_names_the_mistake(judge: CaseJudge, name: str) -> None:
    slug, case, hint = JUDGED[name]
    found = judge.judge((KERNELS / f"{name}.cu").read_text(), slug, case)
    assert found.verdict is not CaseVerdict.ACCEPTED
    assert hint in found.hint


@dataclass(frozen=True)
class Wrong:
    kind: str
    pattern: Pattern | None = None
    index: tuple[int, ...] = (0,)
    got: str = "1"
    expected: str = "2"
    error: float = 0.0
    allowed: float = 0.0
    sizes: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[str, torch.Tensor] = field(default_factory=dict)

    def mismatch(self, argument: str) -> Mismatch:
        index = list(self.index)
        worst = [
            WorstElement(
                index=index, got=self.got, expected=self.expected, error=self.error, allowed=self.allowed
            )
        ]
        return Mismatch(
            argument=argument,
            kind=self.kind,
            index=index,
            got=self.got,
            expected=self.expected,
            wrong=9,
            total=10,
            worst=worst if self.error else [],
        )


def _checker(kind: str, line: int, message: str) -> Failure:
    return Failure(kind="checker", type=kind, message=message, line=line)


_ADDED = "Thread 0 of block 1 writes byte 0 of {0}, and thread 40 of block 0 reads it{1}. Nothing orders two blocks."
_BEHIND = "Thread 232 of block 3 reads 4 bytes just past the end of {0}, which has 4,000 bytes."
_ROWS = torch.randn(5, 77, generator=torch.Generator().manual_seed(1))
_NAN = Wrong("nan", index=(0, 0), got="nan", inputs={"x": _ROWS + 1000})
_UNWRITTEN = Wrong("unwritten", got="never written", pattern=Pattern("unwritten_tail", "", 256))
# Challenge, ending and hint; the result is the challenge's first.
READ: dict[str, tuple[str, Failure | Wrong, str]] = {
    "shared_bins": ("histogram", Wrong("value"), "Line 11 reads local[values[place]]"),
    "total_without_atomic": (
        "dot",
        _checker("global_race", 6, _ADDED.format("out", "")),
        "Line 6 reads total[0] (total is out), changes it and stores it",
    ),
    "row_sum_lost": (
        "rmsnorm",
        _checker(
            "shared_race", 9, "Thread 1 writes byte 0 of the shared array total, and thread 0 reads it."
        ),
        "atomicAdd(&total, ...) does it in one step",
    ),
    "rows_of_height": (
        "matmul",
        Wrong("value", Pattern("tail", "")),
        "Line 9 multiplies a row of a by height, which is m",
    ),
    "softmax_from_flt_min": (
        "softmax",
        Wrong("nan", index=(0, 0), got="nan", inputs={"x": _ROWS - 1000}),
        "FLT_MIN is the smallest positive number, not the lowest",
    ),
    "softmax_unshifted": ("softmax", _NAN, "The exponential in line 9 overflows for large inputs"),
    "maximum_set_to_0": ("softmax", _NAN, "The exponential in line 16 subtracts m, which line 13 sets to 0"),
    "half_fragment": (
        "matmul_fp16",
        Wrong("value", Pattern("rounding", ""), error=0.01, allowed=0.001, sizes={"k": 80}),
        "The accumulator in line 10 is half",
    ),
    "one_after_the_other": (
        "dot",
        Wrong("value", error=300.0, allowed=30.0, sizes={"n": 1 << 28}),
        "times the allowed error. Line 7 adds up to n = 268,435,456 terms one after the other in one float",
    ),
    "squares_less_square": (
        "layernorm",
        Wrong("value", index=(0, 0), inputs={"x": _ROWS + 1000}),
        "Line 14 computes the variance as a mean of squares minus the square of mu",
    ),
    "share_of_integers": (
        "layernorm",
        Wrong("value", index=(0, 0), inputs={"x": _ROWS}),
        "Line 4 divides the integer 1 by the integer cols, which gives 0 for every cols above 1: write 1.0f / cols.",
    ),
    "times_grid": (
        "vector_add",
        _UNWRITTEN,
        "Line 4 multiplies blockIdx.x by gridDim.x, the number of blocks",
    ),
    "blocks_overlap": ("relu", _UNWRITTEN, "Line 5 adds blockIdx.x and threadIdx.x, so blocks overlap"),
    "no_block_index": ("relu", _UNWRITTEN, "clip never uses blockIdx.x: all of them do the same work"),
    "sizes_crossed": (
        "transpose",
        Wrong("value"),
        "The launch in line 13 passes cols for rows and rows for cols",
    ),
    "printed_before_bound": (
        "vector_add",
        _checker("out_of_bounds", 6, _BEHIND.format("a")),
        "Line 6 uses i before line 7 checks that it is below n",
    ),
    "no_bounds": (
        "relu",
        _checker("out_of_bounds", 6, _BEHIND.format("x")),
        "Nothing compares id with a size",
    ),
    "bound_too_far": (
        "vector_add",
        _checker("out_of_bounds", 6, _BEHIND.format("a")),
        "Line 6 lets at = n through",
    ),
}


def _said(text: str, slug: str, ending: Failure | Wrong) -> str:
    challenge = Catalogue(ROOT).load(slug)
    mistakes = CudaMistakes.of(challenge.manifest, text)
    assert mistakes is not None
    if isinstance(ending, Failure):
        return mistakes.of_failure(ending)
    mismatch = ending.mismatch(challenge.manifest.results[0].name)
    case = Case("case", Category.BASIC, ending.sizes)
    return mistakes.of_result(ending.pattern, mismatch, case, ending.inputs)


def test_every_kernel_is_in_a_table() -> None:
    assert {path.stem for path in KERNELS.glob("*.cu")} == {*JUDGED, *READ}


@pytest.mark.parametrize("name", READ)
def test_the_source_explains_its_failure(name: str) -> None:
    slug, ending, said = READ[name]
    assert said in _said((KERNELS / f"{name}.cu").read_text(), slug, ending)


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("softmax_from_flt_min", Wrong("value", index=(0, 0), inputs={"x": _ROWS})),
        ("softmax_unshifted", Wrong("nan", index=(0, 0), got="nan", inputs={"x": _ROWS})),
        ("squares_less_square", Wrong("value", index=(0, 0), inputs={"x": _ROWS})),
        ("half_fragment", Wrong("value", error=9.0, allowed=0.001, sizes={"k": 80})),
        ("one_after_the_other", Wrong("value", error=0.1, allowed=0.01, sizes={"n": 10})),
        ("rows_of_height", Wrong("value", Pattern("rounding", ""))),
        ("total_without_atomic", _checker("global_race", 5, _ADDED.format("out", " in line 4"))),
    ],
)
def test_no_hint_without_evidence_in_the_numbers(name: str, ending: Failure | Wrong) -> None:
    assert _said((KERNELS / f"{name}.cu").read_text(), READ[name][0], ending) == ""


_ONE_INDEX = (
    "Thread 0 of block 1 writes byte 0 of y, and thread 0 of block 0 writes it. Both write to it from this line: they "
    "compute the same index."
)
_ADDS = "y[i] = alpha * x[i] + y[i];"
_OUT_OF_X = _checker("out_of_bounds", 3, _BEHIND.format("x"))


@pytest.mark.parametrize(
    ("macro", "body", "ending", "said"),
    [
        (
            "",
            f"int i = threadIdx.x;\nif (i < n) {_ADDS}",
            _checker("global_race", 3, _ONE_INDEX),
            "uses blockIdx.x",
        ),
        ("", f"int i = threadIdx.x;\nif (i < n) {_ADDS}", Wrong("value"), "k never uses blockIdx.x"),
        (
            "",
            f"for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)\n{_ADDS}",
            _checker("global_race", 3, _ONE_INDEX),
            "The loop in line 2 advances by blockDim.x",
        ),
        (
            "#define AT (blockIdx.x * blockDim.x + threadIdx.x)",
            f"int i = AT; if (threadIdx.x == 99) return;\nif (i < n) {_ADDS}",
            _checker("global_race", 4, _ONE_INDEX),
            "",
        ),
        (
            "__device__ int at() { return blockIdx.x * blockDim.x + threadIdx.x; }",
            f"int i = at(); if (threadIdx.x == 99) return;\nif (i < n) {_ADDS}",
            Wrong("value"),
            "",
        ),
        (
            "",
            f"int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (n >= i) {_ADDS}",
            _OUT_OF_X,
            "lets i = n through",
        ),
        ("", f"int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (inside(i, n)) {_ADDS}", _OUT_OF_X, ""),
        (
            "",
            f"int i = blockIdx.x * blockDim.x + threadIdx.x;\n{_ADDS}",
            _OUT_OF_X,
            "Nothing compares i with a size",
        ),
        (
            "",
            "__shared__ float tile[32]; int t = threadIdx.x;\ntile[t] = x[t];",
            _checker("out_of_bounds", 3, _BEHIND.format("the shared array tile")),
            "",
        ),
        ("", "int t = threadIdx.x, half = 16;\ny[t] = x[t];\nif (t < half) y[t] = 0;", _OUT_OF_X, ""),
    ],
)
def test_advice_fits_the_way_an_index_is_made(
    macro: str, body: str, ending: Failure | Wrong, said: str
) -> None:
    parameters = "const float* x, float* y, float alpha, int64_t n"
    kernel = f"__global__ void k({parameters}) {{\n{body} }}\n"
    launch = f'extern "C" void solve({parameters}) {{ k<<<(n + 255) / 256, 256>>>(x, y, alpha, n); }}'
    found = _said(f"{macro}\n{kernel}{launch}" if macro else kernel + launch, "saxpy", ending)
    assert said in found
    assert bool(said) == bool(found)


RIGHT = sorted([*ROOT.glob("reference/*/staff/solution.cu"), *ROOT.glob("benchmarks/variants/*/*.cu")])


def test_the_sources_of_right_kernels_look_right() -> None:
    """Rules that read the source alone find nothing, whatever the numbers."""
    catalogue, said = Catalogue(ROOT), {}
    for path in RIGHT:
        slug = path.parts[-3] if path.parent.name == "staff" else path.parent.name
        mistakes = CudaMistakes.of(catalogue.load(slug).manifest, path.read_text())
        assert mistakes is not None
        said[str(path.relative_to(ROOT))] = mistakes.suspicions()
    assert len(said) > 100
    assert {path: suspicions for path, suspicions in said.items() if suspicions} == {}


@pytest.mark.parametrize(
    ("text", "adds"),
    [
        ("out[i] = x[i];", False),
        ("atomicAdd(&out[0], x[i]);", True),
        ("out[i] += x[i];", True),
        ("float* row = out + i; row[0] = x[i];", True),
    ],
)
def test_a_kernel_that_adds_to_its_result_is_recognised(text: str, adds: bool) -> None:
    source = (
        f"__global__ void k(const float* x, float* out, int64_t n) {{ int i = threadIdx.x; {text} }}\n"
        'extern "C" void solve(const float* x, float* out, int64_t n) { k<<<1, 32>>>(x, out, n); }'
    )
    mistakes = CudaMistakes.of(Catalogue(ROOT).load("relu").manifest, source)
    assert mistakes is not None
    assert mistakes.adds_to("out") is adds


@pytest.mark.parametrize(
    ("body", "left_out"),
    [
        ("for (int i = threadIdx.x; i < n / 2; i += 32) y[i] += x[i + n / 2];", False),
        ("int half = n / 2; for (int i = threadIdx.x; i < half; i += 32) y[i] = x[i] + x[half + i];", False),
        ("for (int i = threadIdx.x; i < n / 2; i += 32) y[i] = x[n - 1 - i];", False),
        ("for (int i = threadIdx.x; i < n / 2; i += 32) { y[2 * i] = x[2 * i]; y[2 * i + 1] = 0; }", True),
    ],
)
def test_a_loop_over_pairs_leaves_nothing_out(body: str, left_out: bool) -> None:
    parameters = "const float* x, float* y, float alpha, int64_t n"
    source = (
        f"__global__ void k({parameters}) {{ {body} }}\n"
        f'extern "C" void solve({parameters}) {{ k<<<1, 32>>>(x, y, alpha, n); }}'
    )
    mistakes = CudaMistakes.of(Catalogue(ROOT).load("saxpy").manifest, source)
    assert mistakes is not None
    assert ("rounded down" in mistakes.shapes.rounded_loop(Case("", Category.BASIC, {"n": 1021}))) is left_out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "int rows = 4, cols = 8; float share = 1 / (rows * cols);",
            "which gives 0 for every rows * cols above 1",
        ),
        (
            "const int64_t i = 0, count = n * 2; y[i] = x[i] * (1 / count);",
            "divides the integer 1 by the integer count",
        ),
        ("int rows = 4; float cols = 8, share = 1 / (rows * cols);", ""),
        ("int rows = 4; y[0] = 1 / alpha;", ""),
    ],
)
def test_a_quotient_of_integers_is_0(body: str, said: str) -> None:
    parameters = "const float* x, float* y, float alpha, int64_t n"
    mistakes = CudaMistakes.of(
        Catalogue(ROOT).load("saxpy").manifest,
        f"__global__ void k({parameters}) {{ {body} }}\n"
        f'extern "C" void solve({parameters}) {{ k<<<1, 32>>>(x, y, alpha, n); }}',
    )
    assert mistakes is not None
    assert said in mistakes.values.zero_quotient()
    assert bool(said) is bool(mistakes.values.zero_quotient())


@pytest.mark.parametrize(("threads", "suspicious"), [("1, 1", False), ("2, 1", True), ("1, 32", True)])
def test_a_single_thread_needs_no_atomics(threads: str, suspicious: bool) -> None:
    source = (
        "__global__ void k(float* out, int64_t n) { float sum = 0;"
        "for (int i = 0; i < n; i++) out[i] = sum += out[i]; }\n"
        f'extern "C" void solve(const float* x, float* out, int64_t n) {{ k<<<{threads}>>>(out, n); }}'
    )
    mistakes = CudaMistakes.of(Catalogue(ROOT).load("relu").manifest, source)
    assert mistakes is not None
    assert bool(mistakes.suspicions()) is suspicious


def test_a_source_of_too_many_parts_is_skipped() -> None:
    assert read("x" * 100_000) is None
    for part in ("a=b;", "f();", "a[0];", "{}", "\n\n"):
        assert read(f"__global__ void k(float* a) {{ {part * 1000} }}") is None
        assert read(f"__global__ void k(float* a) {{ {part * 100} }}") is not None
