"""The hint for a wrong Triton kernel on the emulated board names its mistake.

The kernels are in ``mistaken``; one box judges them all, a case each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.judge.explaining.triton.mistakes import TritonMistakes
from grader.judge.messages import Failure
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseVerdict, Mismatch
from tests.components import need
from tests.judge.case_judge import CaseJudge

ROOT = Path(__file__).parents[3]
KERNELS = Path(__file__).parent / "mistaken"
# Challenge, case, and the case's words and hint.
TABLE: dict[str, tuple[str, str, str, str]] = {
    "no_mask": (
        "vector_add",
        "basic",
        "Line 8: Program 0 reads 16 bytes",
        "The tl.load in line 8 has no mask",
    ),
    "store_without_mask": (
        "saxpy",
        "basic",
        "Line 11: Program 1 writes",
        "The tl.store in line 11 has no mask",
    ),
    "mask_lets_one_through": ("softmax", "odd", "past the end of x", "lets i <= cols through"),
    "one_axis_masked": (
        "transpose",
        "one_element",
        "Line 9: ",
        "bounds only y, but the pointer also uses x",
    ),
    "mask_without_loop": ("matmul", "prime", "Line 12: ", "does not contain k0, but the pointer does"),
    "mask_of_other_size": ("transpose", "basic", "never written", "Line 9 compares x with w, and line 10"),
    "missing_other": ("softmax", "odd", "", "a mask but no other=, so the lanes"),
    "other_zero": ("softmax", "odd", "", "hold 0 (line 9), and tl.max in line 10 also uses them"),
    "argmax_of_padding": ("argmax_rows", "all_negative", "", "tl.argmax in line 10 also uses them"),
    "deviation_of_padding": ("layernorm", "odd", "", "line 10 fills them, and by then they no longer hold 0"),
    "returns": ("vector_add", "basic", "never written", "solve returns its result in line 6"),
    "rebinds_out": ("vector_add", "basic", "never written", "Line 6 gives the name out to another tensor"),
    "no_pid": ("vector_add", "n_1025", "never written", "never uses tl.program_id"),
    "axis_beyond_grid": ("relu", "basic", "never written", "the grid in line 13 has 1 dimension"),
    "grid_divides_down": ("relu", "basic", "never written", "rounds down (n // 256)"),
    "program_ids_exchanged": (
        "matmul",
        "basic",
        "never written",
        "r is computed from tl.program_id(1) and compared with M",
    ),
    "one_program_id": ("matmul", "basic", "was never written", "never uses tl.program_id(1)"),
    "index_pointer": ("vector_add", "basic", "Line 8: Triton cannot compile this: ", "out is a pointer"),
    "no_grid": ("vector_add", "basic", "line 13", "a launch needs its grid in brackets, add["),
    "argument_missing": ("relu", "basic", "", "The launch in line 13 does not pass count to clip"),
    "no_constexpr": (
        "relu",
        "basic",
        "Line 7: Triton cannot compile this: arange's",
        "write W: tl.constexpr",
    ),
    "no_power_of_two": ("relu", "basic", "Line 7: Triton cannot compile this: ", "triton.next_power_of_2"),
    "shapes_do_not_fit": (
        "softmax",
        "basic",
        "incompatible dimensions at index 1: 64 and 16",
        "[:, None] makes a column",
    ),
    "unknown_name": (
        "relu",
        "basic",
        "Line 7: Triton cannot compile this: NameError: zero is not defined",
        "",
    ),
    "other_order": (
        "saxpy",
        "basic",
        "",
        "solve takes (alpha, x, y, n), and the judge passes (x, y, alpha, n)",
    ),
    "dot_fp16_acc": ("matmul_fp16", "basic", "", "adds up in acc, which line 10 makes float16"),
    "half_dot": ("matmul_fp16", "basic", "", "adds up in tl.dot, to which out_dtype gives float16"),
    "tf32": ("matmul", "basic", "", "rounds float32 to TF32"),
    "race_store": ("reduce_sum", "n_1025", "Nothing orders programs", "tl.atomic_add does it in one step"),
    "lanes_store_at_one_place": (
        "relu",
        "basic",
        "Line 9: Program 0 stores two different values to byte ",
        "",
    ),
    "partial_sums_unwritten": (
        "reduce_sum",
        "n_1025",
        "Line 17: Program 0 uses a value from memory that was never written: torch.empty leaves memory unwritten",
        "",
    ),
    "every_program_stores": (
        "reduce_sum",
        "basic",
        "Nothing orders programs",
        "is the same in every program",
    ),
    "wrong_stride": ("transpose", "basic", "", "Each tile of 32 x 32 of out is transposed within itself"),
    "read_by_columns": (
        "matmul",
        "basic",
        "",
        "The result is right if b is read with rows and columns exchanged",
    ),
    "broadcast_along_wrong_axis": (
        "softmax",
        "basic",
        "",
        "leaves one value for each row, but [None, :] spreads it",
    ),
    "wrong_axis": ("softmax", "basic", "", "are exchanged. Line 12 reduces along axis=0"),
    "beta_forgotten": ("layernorm", "basic", "", "never uses its parameter bias, which is beta"),
    "alpha_forgotten": ("saxpy", "basic", "", "The result is right for alpha = 1, whatever alpha is."),
    "shifted": ("inclusive_scan", "basic", "", "The values of out are right, but 1 place too late"),
    "no_maximum": ("softmax", "plus_1000", "nan", "subtract the row's maximum first"),
}


@pytest.fixture(scope="module")
def judge(local_boxes: BoxMaker) -> Iterator[CaseJudge]:
    need("emulator")
    judge = CaseJudge(local_boxes, Language.TRITON)
    yield judge
    judge.close()


def test_every_kernel_is_in_the_table() -> None:
    assert {path.stem for path in KERNELS.glob("*.py")} == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_the_hint_names_the_mistake(judge: CaseJudge, name: str) -> None:
    slug, case, detail, hint = TABLE[name]
    found = judge.judge((KERNELS / f"{name}.py").read_text(), slug, case)
    assert found.verdict is not CaseVerdict.ACCEPTED
    assert detail in found.detail
    assert hint in found.hint


def test_a_refused_kernel_shows_its_line_and_column(judge: CaseJudge) -> None:
    found = judge.judge((KERNELS / "unknown_name.py").read_text(), "relu", "basic")
    headline, line, caret = found.detail.split("\n")[:3]
    assert headline == "Line 7: Triton cannot compile this: NameError: zero is not defined"
    assert line == "    return tl.maximum(v, zero)"
    assert caret.index("^") == line.index("zero)")


_SOLVE = "def solve(a, b, out, n):\n    grid = {grid}\n    {launches}\n"
_KERNEL = (
    "import triton\nimport triton.language as tl\n@triton.jit\ndef {name}(a, b, out, n, BLOCK: tl.constexpr):\n"
    "    i = {first} + tl.arange(0, BLOCK)\n"
    "    tl.store(out + i, tl.load(a + i, mask=i < n){more}, mask=i < n)\n"
)
_OF_PROGRAM, _WITH_B = "tl.program_id(0) * BLOCK", " + tl.load(b + i, mask=i < n)"
_ADD = _KERNEL.format(name="add", first=_OF_PROGRAM, more=_WITH_B)
_UNWRITTEN = Mismatch(argument="out", kind="unwritten", index=[0], expected="1", got="", wrong=1, total=9)
_VALUE = _UNWRITTEN.model_copy(update={"kind": "value"})


def _outside(where: str) -> Failure:
    message = f"Program 0 reads 16 bytes {where}"
    return Failure(kind="checker", type="out_of_bounds", message=message, line=6)


_AT_ONCE = Failure(
    kind="checker",
    type="global_race",
    message="Program 0 stores two different values to byte 0 of out at once: two of its lanes have the same offset.",
    line=6,
)


@pytest.mark.parametrize(
    ("kernels", "grid", "launches", "ending", "said"),
    [
        (_ADD, "(n // 256,)", "add[grid](a, b, out, n, 256)", _UNWRITTEN, "rounds down (n // 256)"),
        (_ADD, "(n // 256 + 1,)", "add[grid](a, b, out, n, 256)", _UNWRITTEN, ""),
        (_ADD, "(n // 256 + (n % 256 > 0),)", "add[grid](a, b, out, n, 256)", _UNWRITTEN, ""),
        (
            _KERNEL.format(name="add", first="0", more=_WITH_B),
            "(1,)",
            "add[grid](a, b, out, n, 256)",
            _UNWRITTEN,
            "",
        ),
        (
            _KERNEL.format(name="copy", first=_OF_PROGRAM, more="") + _ADD,
            "(triton.cdiv(n, 256),)",
            "copy[grid](a, b, out, n, 256); add[grid](a, b, out, n, 256)",
            _VALUE,
            "",
        ),
        (
            _KERNEL.format(name="copy", first=_OF_PROGRAM, more=""),
            "(triton.cdiv(n, 256),)",
            "copy[grid](a, b, out, n, 256)",
            _VALUE,
            "never uses its parameter b",
        ),
        (
            _ADD,
            "(1,)",
            "add[grid](a, b, out, n, 256)",
            _outside("past the end of a"),
            "The mask of the tl.load",
        ),
        (_ADD, "(1,)", "add[grid](a, b, out, n, 256)", _outside("before the beginning of a"), ""),
        (_ADD, "(1,)", "add[grid](a, b, out, n, 256)", _outside("at address 0, a null pointer"), ""),
        (
            _KERNEL.format(name="add", first="n", more=_WITH_B),
            "(9,)",
            "add[grid](a, b, out, n, 256)",
            _AT_ONCE,
            "",
        ),
    ],
)
def test_no_advice_without_evidence(
    kernels: str, grid: str, launches: str, ending: Failure | Mismatch, said: str
) -> None:
    manifest = Catalogue(ROOT).load("vector_add").manifest
    mistakes = TritonMistakes.of(manifest, kernels + _SOLVE.format(grid=grid, launches=launches))
    assert mistakes is not None
    case = Case("case", Category.BASIC, {"n": 9})
    found = (
        mistakes.of_failure(ending)
        if isinstance(ending, Failure)
        else mistakes.of_result(None, ending, case, {})
    )
    assert said in found
    assert bool(said) == bool(found)


RIGHT = sorted([*ROOT.glob("reference/*/staff/solution.py"), *ROOT.glob("benchmarks/variants/*/*.py")])


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: f"{path.parts[-3]}-{path.parent.name}-{path.stem}")
def test_the_source_of_a_right_kernel_looks_right(path: Path) -> None:
    """Rules that read the source alone find nothing, whatever the numbers."""
    slug = path.parts[-3] if path.parent.name == "staff" else path.parent.name
    mistakes = TritonMistakes.of(Catalogue(ROOT).load(slug).manifest, path.read_text())
    assert mistakes is not None
    assert mistakes.suspicions() == []


def test_a_too_deeply_nested_source_is_skipped() -> None:
    manifest = Catalogue(ROOT).load("relu").manifest
    assert TritonMistakes.of(manifest, "x = " + "-" * 100_000 + "1") is None
    assert TritonMistakes.of(manifest, "x = 1" + "+1" * 30_000) is None
