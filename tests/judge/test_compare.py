from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.course import Course
from grader.challenge.model import Tolerance
from grader.judge.arena import Arena
from grader.judge.compare import LATE, broken_guard, changed_input, compare, wrong_elements
from grader.judge.faults import of_mismatch
from grader.judge.oracle import Question
from grader.schemas.report import CaseVerdict, Mismatch

INF, NAN = float("inf"), float("nan")
TIGHT = Tolerance(atol=1e-3, rtol=1e-2)


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
def test_the_rule_for_one_float(got: float, want: float, wrong: bool) -> None:
    found = wrong_elements(torch.tensor([got]), torch.tensor([want]), TIGHT)
    assert bool(found[0]) is wrong


def test_magnitude_widens_only_where_terms_cancel() -> None:
    got, want = torch.tensor([0.5, 0.5]), torch.tensor([0.0, 0.0])
    found = wrong_elements(got, want, Tolerance(rtol=1e-3), torch.tensor([1000.0, 1.0], dtype=torch.float64))
    assert found.tolist() == [False, True]


def test_an_infinite_magnitude_forgives_nothing() -> None:
    found = wrong_elements(torch.tensor([5.0]), torch.tensor([1.0]), TIGHT, torch.tensor([INF]))
    assert bool(found[0])


def test_integers_are_exact() -> None:
    found = wrong_elements(torch.tensor([3, 4]), torch.tensor([3, 5]), Tolerance(atol=0.9, rtol=0.9))
    assert found.tolist() == [False, True]


@pytest.fixture
def arena(course: Course) -> Iterator[Arena]:
    made = Arena(course.load("twice").manifest, {"n": 10}, {})
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


def test_unwritten_is_wrong_where_nan_is_right(arena: Arena, question: Question) -> None:
    arena.reveal(question.inputs)
    nan = Question(question.inputs, {"out": torch.full((10,), NAN)}, {})
    mismatch = compare(arena, arena.snapshot(), nan)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.wrong) == ("unwritten", 10)
    arena.buffers["out"].write(torch.full((10,), NAN))
    assert compare(arena, arena.snapshot(), nan) is None


def test_a_changed_input_is_found_bit_for_bit(arena: Arena, question: Question) -> None:
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


def test_an_input_that_was_put_back_is_told_without_its_place() -> None:
    finding = of_mismatch(
        Mismatch(argument="x", kind="input_changed", wrong=1200, total=5000),
        Case("large", Category.LARGE, {"n": 5000}),
        [],
    )
    assert finding.detail == "1,200 elements of the input x were changed, and put back; inputs are read-only."


def test_what_is_late_is_explained() -> None:
    mismatch = Mismatch(
        argument="out", kind=LATE, index=[7], expected="1", got="never written", wrong=3, total=9
    )
    finding = of_mismatch(mismatch, Case("large", Category.LARGE, {"n": 9}), [])
    assert finding.verdict is CaseVerdict.WRONG_ANSWER
    assert finding.detail == "out[7] was not yet written when the call was done; expected 1."
    assert "has to be joined" in finding.hint
