from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.dtypes import DType
from grader.challenge.model import Manifest
from grader.challenge.numbers import comparable, decode, rounded
from grader.challenge.tolerance import Allowance, Tolerances
from grader.judge import compare as compare_module
from grader.judge.arena import Arena
from grader.judge.compare import (
    LATE,
    broken_guard,
    changed_input,
    compare,
    compare_in_pieces,
    forbidden_write,
    other_count,
    wrong_elements,
)
from grader.judge.faults import of_mismatch
from grader.judge.oracle import Question
from grader.schemas.report import CaseVerdict, Mismatch

INF, NAN = float("inf"), float("nan")
TIGHT = Allowance(atol=1e-3, rtol=1e-2)
Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@pytest.mark.parametrize(
    ("got", "want", "wrong"),
    [
        (1.0, 1.0, False),
        (1.0109, 1.0, False),
        (1.0111, 1.0, True),
        (NAN, NAN, False),
        (NAN, 1.0, True),
        (1.0, NAN, True),
        (INF, INF, False),
        (-INF, INF, True),
        (INF, 3e38, True),
        (3e38, INF, True),
        (0.0, -0.0, False),
        (0.0009, 0.0, False),
        (0.0011, 0.0, True),
    ],
)
def test_one_float_is_compared_by_atol_and_rtol(got: float, want: float, wrong: bool) -> None:
    found = wrong_elements(torch.tensor([got]), torch.tensor([want]), TIGHT)
    assert bool(found[0]) is wrong


def test_magnitude_widens_the_tolerance_only_if_terms_cancel() -> None:
    got, want = torch.tensor([0.5, 0.5]), torch.tensor([0.0, 0.0])
    found = wrong_elements(got, want, Allowance(rtol=1e-3), torch.tensor([1000.0, 1.0], dtype=torch.float64))
    assert found.tolist() == [False, True]


def test_an_infinite_magnitude_does_not_widen_the_tolerance() -> None:
    found = wrong_elements(torch.tensor([5.0]), torch.tensor([1.0]), TIGHT, torch.tensor([INF]))
    assert bool(found[0])


def test_integers_are_exact() -> None:
    found = wrong_elements(torch.tensor([3, 4]), torch.tensor([3, 5]), Allowance(atol=0.9, rtol=0.9))
    assert found.tolist() == [False, True]


@pytest.fixture
def arena(catalogue: Catalogue) -> Iterator[Arena]:
    made = Arena(catalogue.load("twice").manifest, {"n": 10}, {})
    yield made
    made.close()


@pytest.fixture
def question() -> Question:
    x = torch.arange(10.0)
    return Question(inputs={"x": x}, outputs={"out": 2 * x}, magnitudes={})


def test_right_outputs_have_no_mismatch(arena: Arena, question: Question) -> None:
    arena.reveal(question.inputs)
    arena.buffers["out"].write(question.outputs["out"])
    assert compare(arena, arena.snapshot(), question) is None
    assert changed_input(arena, question) is None
    assert broken_guard(arena) is None


def test_a_mismatch_names_place_values_and_count(arena: Arena, question: Question) -> None:
    arena.reveal(question.inputs)
    values = question.outputs["out"].clone()
    values[3], values[7] = 7.0, 10.0
    arena.buffers["out"].write(values)
    mismatch = compare(arena, arena.snapshot(), question)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.index, mismatch.got, mismatch.expected) == ("value", [3], "7", "6")
    assert (mismatch.wrong, mismatch.total, mismatch.max_error) == (2, 10, 4.0)


def test_unwritten_memory_is_not_accepted_as_nan(arena: Arena, question: Question) -> None:
    arena.reveal(question.inputs)
    nan = Question(question.inputs, {"out": torch.full((10,), NAN)}, {})
    mismatch = compare(arena, arena.snapshot(), nan)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.wrong) == ("unwritten", 10)
    arena.buffers["out"].write(torch.full((10,), NAN))
    assert compare(arena, arena.snapshot(), nan) is None


def test_an_input_is_compared_bit_for_bit(arena: Arena, question: Question) -> None:
    arena.reveal(question.inputs)
    changed = question.inputs["x"].clone()
    changed[0] = -0.0
    arena.buffers["x"].write(changed)
    mismatch = changed_input(arena, question)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.argument, mismatch.index, mismatch.wrong) == (
        "input_changed",
        "x",
        [0],
        1,
    )


def test_a_large_result_is_compared_piece_by_piece(
    arena: Arena, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_module, "_LARGE_PIECE_BYTES", 3 * 4)
    monkeypatch.setattr(compare_module, "_PIECE_BYTES", 3 * 4)
    arena.reveal(question.inputs)
    values = question.outputs["out"].clone()
    arena.buffers["out"].write(values)
    assert compare_in_pieces(arena, question) is None
    values[4], values[9] = 7.0, 10.0
    arena.buffers["out"].write(values)
    found = compare_in_pieces(arena, question)
    assert found is not None
    assert (found.kind, found.index, found.got, found.wrong, found.total) == ("value", [4], "7", 2, 10)
    assert [element.index for element in found.worst] == [[4]]
    changed = question.inputs["x"].clone()
    changed[8] = changed[7] = -1.0
    arena.buffers["x"].write(changed)
    moved = changed_input(arena, question)
    assert moved is not None
    assert (moved.index, moved.wrong, [element.index for element in moved.worst]) == ([7], 2, [[8], [7]])


def test_a_restored_input_is_reported_without_an_index() -> None:
    finding = of_mismatch(
        Mismatch(argument="x", kind="input_changed", wrong=1200, total=5000),
        Case("large", Category.LARGE, {"n": 5000}),
        [],
    )
    assert finding.detail == "1,200 elements of the input x were changed and restored; inputs are read-only."


def test_a_late_write_is_explained() -> None:
    mismatch = Mismatch(
        argument="out", kind=LATE, index=[7], expected="1", got="never written", wrong=3, total=9
    )
    finding = of_mismatch(mismatch, Case("large", Category.LARGE, {"n": 9}), [])
    assert finding.verdict is CaseVerdict.WRONG_ANSWER
    assert finding.detail == "out[7] was not written yet when the call was done; expected 1."
    assert "the default stream must wait" in finding.hint


def manifest_of(*buffers: tuple[str, str, str, list[str]], **more: Any) -> Manifest:
    """A challenge with ``buffers`` (name, kind, dtype, shape) and the size ``n``."""
    return Manifest.model_validate(
        {
            "title": "Some buffers",
            "track": "tests",
            "difficulty": "easy",
            "version": 1,
            "languages": ["triton"],
            "args": [
                *(dict(zip(("name", "kind", "dtype", "shape"), buffer, strict=True)) for buffer in buffers),
                {"name": "n", "kind": "size"},
            ],
            "tolerance": {"rtol": 1e-3},
            "workloads": [{"name": "small", "sizes": {"n": 4}}],
            "cost": {"bytes": "n", "flops": "n"},
            **more,
        }
    )


def question_of(dtype: DType, want: torch.Tensor) -> tuple[Arena, Question]:
    """``solve(out, n)`` whose ``out`` has ``dtype``, and its right values."""
    arena = Arena(manifest_of(("out", "output", dtype.value, ["n"])), {"n": want.numel()}, {})
    arena.reveal({})
    right = comparable(rounded(want, dtype), dtype)
    return arena, Question(inputs={}, outputs={"out": right}, magnitudes={})


def mismatch_of(dtype: DType, want: torch.Tensor, kernel: Kernel) -> Mismatch | None:
    """The mismatch of ``kernel``, which gets the poisoned output and the right values."""
    arena, question = question_of(dtype, want)
    try:
        arena.buffers["out"].write(kernel(arena.snapshot()["out"], question.outputs["out"]))
        return compare(arena, arena.snapshot(), question)
    finally:
        arena.close()


def added(out: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """``out + values``, as processors add: torch's own bfloat16 loses the NaN's payload."""
    if not out.is_floating_point():
        return (out.long() + values.long()).to(out.dtype)
    if out.dtype != torch.bfloat16:
        return out + values
    wide = (out.view(torch.int16).int() << 16).view(torch.float32) + values.float()
    return (wide.view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)


# In other types sums with the poison are not recognised: their arithmetic is a larger type's.
WHOLE = [dtype for dtype in DType if not dtype.floating and not dtype.packed and dtype is not DType.BOOL]
FLOATS = [dtype for dtype in DType if dtype.floating and dtype.held == dtype.value]


@pytest.mark.parametrize("dtype", [*WHOLE, *FLOATS])
def test_adding_to_an_uncleared_output_is_reported(dtype: DType) -> None:
    mismatch = mismatch_of(dtype, torch.arange(20) % 5, added)
    assert mismatch is not None
    assert mismatch.kind == "not_cleared"
    assert mismatch.got != "never written"
    if not dtype.floating:
        assert (mismatch.index, mismatch.expected) == ([1], "1")
    hint = of_mismatch(mismatch, Case("basic", Category.BASIC, {"n": 20}), []).hint
    assert "out is not cleared for you: set it to 0 first, in the same stream" in hint
    assert "/docs/coming-from-other-platforms" in hint


@pytest.mark.parametrize("dtype", [dtype for dtype in FLOATS if dtype is not DType.BFLOAT16])
def test_subtracting_from_an_uncleared_output_is_reported(dtype: DType) -> None:
    mismatch = mismatch_of(dtype, torch.ones(3), lambda out, values: -(out - values))
    assert mismatch is not None
    assert mismatch.kind == "not_cleared"


@pytest.mark.parametrize("extreme", [torch.maximum, torch.minimum])
@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT8])
def test_a_maximum_or_minimum_with_an_uncleared_output_is_reported(
    dtype: DType, extreme: Callable[..., torch.Tensor]
) -> None:
    mismatch = mismatch_of(dtype, torch.arange(60, 120), extreme)
    assert mismatch is not None
    assert mismatch.kind == "not_cleared"


@pytest.mark.parametrize("dtype", WHOLE)
def test_wrong_or_unwritten_integers_are_not_taken_for_sums(dtype: DType) -> None:
    want = torch.arange(60, 120) % 7
    wrong = mismatch_of(dtype, want, lambda _, values: added(values, values.new_full((), 3)))
    assert wrong is not None
    assert wrong.kind == "value"
    # One sum by chance, among many that are wrong otherwise.
    chance = mismatch_of(
        dtype,
        want,
        lambda out, values: torch.cat(
            (added(out[:3], values[:3]), added(values[3:], values.new_full((), 3)))
        ),
    )
    assert chance is not None
    assert chance.kind == "value"
    half = mismatch_of(dtype, want, lambda out, values: torch.cat((values[:30], out[30:])))
    assert half is not None
    assert (half.kind, half.index, half.wrong) == ("unwritten", [30], 30)
    # An unchanged element that should be 0 is no sum: to all appearances it is unwritten.
    zeros = mismatch_of(dtype, torch.zeros(9), lambda out, _: out)
    assert zeros is not None
    assert zeros.kind == "unwritten"


def test_an_unexplained_nan_lists_possible_causes() -> None:
    """A GPU turns all NaN into one, so an addition to the poison does not show."""
    mismatch = mismatch_of(DType.FLOAT32, torch.ones(3), lambda _, values: values * NAN)
    assert mismatch is not None
    assert mismatch.kind == "nan"
    basic = of_mismatch(mismatch, Case("basic", Category.BASIC, {"n": 3}), []).hint
    assert "If the kernel adds to out (atomicAdd, tl.atomic_add, +=): out is not cleared for you" in basic
    nan = of_mismatch(mismatch, Case("nan", Category.NAN, {"n": 3}), []).hint
    assert nan == "Treat NaN and infinity as the PyTorch reference does."


@pytest.mark.parametrize(
    ("first", "number", "said"),
    [
        (10, 3, "3 elements after its end, at flat index 10, 11, 12 (it has 10, counted from 0)"),
        (-1, 1, "1 element before its beginning, at flat index -1 (it has 10, counted from 0)"),
        (
            -20,
            18,
            "18 elements before its beginning, at flat index -20, -19, -18, -17, -16, -15, -14, -13, ... "
            "(it has 10, counted from 0)",
        ),
    ],
)
def test_a_write_outside_an_array_is_reported_by_array_and_index(
    arena: Arena, question: Question, first: int, number: int, said: str
) -> None:
    arena.reveal(question.inputs)
    buffer = arena.buffers["x"]
    with mmap.mmap(buffer.descriptor, buffer.layout.mapped) as other_side:
        start = buffer.layout.offset + 4 * first
        untouched = other_side[start : start + 4 * number]
        other_side[start : start + 4 * number] = bytes(255 - byte for byte in untouched)
    mismatch = broken_guard(arena)
    assert mismatch is not None
    assert mismatch.wrong == number
    detail = of_mismatch(mismatch, Case("basic", Category.BASIC, {"n": 10}), []).detail
    assert detail == f"Something was written outside x: {said}."


def test_an_error_of_exactly_the_tolerance_is_allowed() -> None:
    found = wrong_elements(torch.tensor([1.5, 1.5001]), torch.tensor([1.0, 1.0]), Allowance(atol=0.5))
    assert found.tolist() == [False, True]


def compared(
    manifest: Manifest, want: dict[str, torch.Tensor], got: dict[str, torch.Tensor], **more: Any
) -> Any:
    """The result of ``compare`` for outputs ``got`` that should be ``want``; ``more``: of the question."""
    arena = Arena(manifest, {"n": 10}, {})
    try:
        arena.reveal({})
        for name, values in got.items():
            arena.buffers[name].write(values)
        return compare(arena, arena.snapshot(), Question({}, want, **{"magnitudes": {}} | more))
    finally:
        arena.close()


def test_each_result_is_compared() -> None:
    manifest = manifest_of(("one", "output", "int32", ["n"]), ("two", "output", "int32", ["n"]))
    want = {"one": torch.arange(10, dtype=torch.int32), "two": torch.zeros(10, dtype=torch.int32)}
    mismatch = compared(manifest, want, {"one": want["one"], "two": want["one"]})
    assert (mismatch.argument, mismatch.index, mismatch.wrong) == ("two", [1], 9)


@pytest.mark.parametrize(("at", "number", "wrong"), [(3, 3, None), (2, 3, [2]), (9, 99, [9])])
def test_elements_beyond_the_count_are_ignored(at: int, number: int, wrong: list[int] | None) -> None:
    manifest = manifest_of(
        ("out", "output", "float32", ["n"]),
        ("count", "output", "int64", ["2"]),
        compare={"out": {"first": "count"}},
    )
    want = {"out": torch.ones(10), "count": torch.tensor([number, 7])}
    got = want["out"].clone()
    got[at] = 5.0
    mismatch = compared(manifest, want, {"out": got, "count": want["count"]})
    assert (mismatch.index if mismatch else None) == wrong


def test_an_integer_that_equals_the_poison_may_be_right() -> None:
    mismatch = mismatch_of(DType.INT8, torch.tensor([0x5A, 1, 2]), lambda _, values: values + (values == 1))
    assert mismatch is not None
    assert (mismatch.index, mismatch.wrong) == ([1], 1)


def test_an_in_out_argument_has_no_poison() -> None:
    manifest = manifest_of(("x", "inout", "float32", ["n"]))
    mismatch = compared(manifest, {"x": torch.ones(10)}, {"x": torch.arange(10.0)})
    assert (mismatch.kind, mismatch.index, mismatch.wrong) == ("value", [0], 9)


def test_magnitudes_have_the_shape_of_their_result() -> None:
    manifest = manifest_of(("out", "output", "float32", ["2", "5"]))
    magnitude = torch.ones(2, 5, dtype=torch.float64)
    magnitude[1, 4] = 1e6
    got = torch.zeros(2, 5)
    got[0, 3] = got[1, 4] = 0.5
    mismatch = compared(manifest, {"out": torch.zeros(2, 5)}, {"out": got}, magnitudes={"out": magnitude})
    assert (mismatch.index, mismatch.wrong) == ([0, 3], 1)


@pytest.mark.parametrize(("got", "want", "kind"), [(INF, 1.0, "inf"), (1.0, -INF, "inf"), (NAN, 1.0, "nan")])
def test_a_mismatch_names_the_kind_of_number(got: float, want: float, kind: str) -> None:
    mismatch = mismatch_of(DType.FLOAT32, torch.tensor([want]), lambda *_: torch.tensor([got]))
    assert mismatch is not None
    assert mismatch.kind == kind


@pytest.mark.parametrize("n", [10, 0])
def test_the_first_changed_element_of_any_input_is_named(n: int) -> None:
    arena = Arena(
        manifest_of(
            ("a", "input", "float32", ["n"]),
            ("b", "input", "float32", ["4"]),
            ("out", "output", "int8", ["1"]),
        ),
        {"n": n},
        {},
    )
    inputs = {"a": torch.ones(n), "b": torch.ones(4)}
    asked = Question(inputs, {}, {})
    arena.reveal(inputs)
    assert forbidden_write(arena, asked) is None
    arena.buffers["b"].write(torch.tensor([1.0, 2.0, 1.0, 3.0]))
    mismatch = forbidden_write(arena, asked)
    arena.close()
    assert mismatch is not None
    assert (mismatch.argument, mismatch.index, mismatch.got, mismatch.wrong) == ("b", [1], "2", 2)


def test_a_guard_restored_in_the_meantime_still_counts_as_broken(
    arena: Arena, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.reveal(question.inputs)
    monkeypatch.setattr(arena.buffers["out"], "guards_intact", lambda: False)
    mismatch = forbidden_write(arena, question)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.wrong, mismatch.outside) == ("out_of_bounds", 1, [])


def test_an_input_restored_in_the_meantime_still_counts_as_changed(
    arena: Arena, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.reveal(question.inputs)
    monkeypatch.setattr(compare_module, "_same_in_place", lambda got, want: False)
    mismatch = forbidden_write(arena, question)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.index, mismatch.wrong) == ("input_changed", None, 1)


@pytest.mark.parametrize(("sums", "kind"), [(10, "value"), (11, "not_cleared")])
def test_sums_must_explain_most_wrong_elements(sums: int, kind: str) -> None:
    def half(out: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return torch.cat((out[:sums] + values[:sums], values[sums:] + 3))

    mismatch = mismatch_of(DType.INT32, torch.arange(20) + 2, half)
    assert mismatch is not None
    assert mismatch.kind == kind


@pytest.mark.parametrize(
    ("wrong", "kind"), [(7, "unwritten"), (8, "not_cleared"), (12, "not_cleared"), (13, "unwritten")]
)
def test_recognising_a_maximum_needs_eight_elements_of_each_kind(wrong: int, kind: str) -> None:
    below_the_poison = torch.tensor([80, -60]).repeat(20)[:wrong]
    want = torch.cat((below_the_poison, torch.full((20 - wrong,), 100)))
    mismatch = mismatch_of(DType.INT8, want, torch.maximum)
    assert mismatch is not None
    assert mismatch.kind == kind


def written(dtype: DType, want: list[float], words: list[int]) -> Mismatch | None:
    """The mismatch of a kernel that writes these bytes instead of ``want``."""
    arena, question = question_of(dtype, torch.tensor(want, dtype=torch.float64))
    try:
        arena.buffers["out"].words.copy_(torch.tensor(words, dtype=torch.uint8))
        return compare(arena, arena.snapshot(), question)
    finally:
        arena.close()


def test_a_bool_is_0_or_1() -> None:
    assert written(DType.BOOL, [0, 1, 1], [0, 1, 1]) is None
    mismatch = written(DType.BOOL, [0, 1, 1], [0, 1, 2])
    assert mismatch is not None
    assert (mismatch.index, mismatch.got, mismatch.expected) == ([2], "2 (a bool is 0 or 1)", "1")


def test_small_floats_are_compared_by_value_and_saturate() -> None:
    # 500 is 448, the largest; both NaN are NaN; the two zeros are equal.
    assert written(DType.FLOAT8_E4M3, [500, 1, NAN, 0], [0x7E, 0x38, 0x7F, 0x80]) is None
    # An infinity counts as the largest number, as conversions differ; NaN does not.
    assert written(DType.FLOAT8_E5M2, [1e6, -INF, INF], [0x7B, 0xFB, 0x7C]) is None
    assert written(DType.FLOAT8_E5M2, [1e6, 1.0], [0x7F, 0x3C]) is not None
    mismatch = written(DType.FLOAT8_E4M3, [1, 2], [0x38, 0xFF])
    assert mismatch is not None
    assert (mismatch.kind, mismatch.index, mismatch.got) == ("unwritten", [1], "never written")
    mismatch = written(DType.FLOAT8_E8M0, [1, 2], [127, 127])
    assert mismatch is not None
    assert (mismatch.index, mismatch.expected, mismatch.got) == ([1], "2", "1")


@pytest.mark.parametrize("dtype", [DType.FLOAT4_E2M1, DType.INT4])
def test_elements_of_a_packed_result_are_compared_one_by_one(dtype: DType) -> None:
    want = decode(torch.tensor([0x21, 0x43], dtype=torch.uint8), dtype).tolist()
    assert written(dtype, want, [0x21, 0x43]) is None
    mismatch = written(dtype, want, [0x21, 0x53])
    assert mismatch is not None
    assert (mismatch.index, mismatch.wrong, mismatch.total) == ([3], 1, 4)


def test_large_unsigned_numbers_are_shown_as_such() -> None:
    mismatch = mismatch_of(DType.UINT64, torch.tensor([-2, 5]), lambda _, values: values + 1)
    assert mismatch is not None
    assert (mismatch.expected, mismatch.got) == ("18446744073709551614", "18446744073709551615")


def test_parts_of_a_complex_number_share_its_magnitude() -> None:
    """A part that cancels has the error of the other; NaN or infinity in one part is NaN."""
    manifest = manifest_of(("z", "output", "complex64", ["n"]))
    manifest = manifest.model_copy(update={"tolerance": Tolerances(rtol=1e-3)})
    want = torch.tensor([[100.0, 0.0], [NAN, 1.0]])
    arena = Arena(manifest, {"n": 2}, {})
    size = torch.tensor([[100.0, 100.0], [NAN, NAN]])
    question = Question({}, {"z": comparable(want, DType.COMPLEX64)}, {"z": size})
    arena.reveal({})
    arena.buffers["z"].write(torch.tensor([[100.0, 0.05], [7.0, INF]]))
    assert compare(arena, arena.snapshot(), question) is None
    arena.buffers["z"].write(torch.tensor([[100.0, 0.2], [7.0, INF]]))
    mismatch = compare(arena, arena.snapshot(), question)
    arena.close()
    assert mismatch is not None
    assert (mismatch.index, mismatch.wrong) == ([0, 1], 1)


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (2, "count is 2, and 3 is right: 1 of the elements that belong in out is left out."),
        (5, "count is 5, and 3 is right: 2 too many are kept."),
        (3, ""),
        (-7, ""),  # never written
    ],
)
def test_a_wrong_number_of_elements_that_count_is_said(got: int, says: str) -> None:
    manifest = find_catalogue().load("stream_compact").manifest
    question = Question({}, {"out": torch.zeros(9), "count": torch.tensor([3])}, {})
    snapshot = {"out": torch.zeros(9), "count": torch.tensor([got])}
    assert other_count(manifest, "out", snapshot, question) == says
    assert other_count(manifest, "count", snapshot, question) == ""
