"""The worst elements: which, in which order, and how they are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import torch

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.challenge.tolerance import Allowance
from grader.judge.arena import Arena
from grader.judge.compare import changed_input, compare
from grader.judge.oracle import Question
from grader.judge.worst import Suspects, worst_elements, wrong_elements
from grader.schemas.report import Mismatch, WorstElement

INF, NAN = float("inf"), float("nan")
TIGHT = Allowance(atol=1e-3, rtol=1e-2)


def find(got: torch.Tensor, want: torch.Tensor, allowance: Allowance = TIGHT) -> list[WorstElement]:
    flat = Suspects(got.reshape(-1), want.reshape(-1), wrong_elements(got, want, allowance).reshape(-1))
    return worst_elements(flat, tuple(got.shape), allowance)


def test_floats_are_ordered_by_error_with_the_allowed_error() -> None:
    want = torch.full((3, 4), 2.0)
    got = want.clone()
    got[0, 1], got[2, 3], got[1, 0] = 2.5, -1.0, 2.0001
    first, second = find(got, want)
    assert (first.index, first.got, first.expected, first.error) == ([2, 3], "-1", "2", 3.0)
    assert first.allowed == pytest.approx(0.021)
    assert (second.index, second.error) == ([0, 1], 0.5)


def test_integers_have_no_tolerance_and_stay_exact() -> None:
    want = torch.tensor([1, 2**62 + 1, -5])
    (only,) = find(torch.tensor([1, 2**62 + 4, -5]), want, Allowance(atol=0.9))
    assert (only.got, only.expected) == (str(2**62 + 4), str(2**62 + 1))
    assert (only.error, only.allowed) == (3.0, 0.0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.float16, torch.bfloat16, torch.float64])
def test_every_dtype_has_worst_elements(dtype: torch.dtype) -> None:
    want = torch.tensor([1, 2, 3], dtype=dtype)
    assert [element.index for element in find(torch.tensor([1, 9, 5], dtype=dtype), want)] == [[1], [2]]


def test_non_finite_values_come_first_and_are_named() -> None:
    want = torch.tensor([1.0, 1.0, NAN, INF, 1.0])
    got = torch.tensor([1.0e30, NAN, 1.0, -INF, INF])
    found = find(got, want)
    assert [(finding.got, finding.expected) for finding in found] == [
        ("nan", "1"),
        ("1", "nan"),
        ("-inf", "inf"),
        ("inf", "1"),
        ("1.00000002e+30", "1"),
    ]
    assert [finding.error is None for finding in found] == [True, True, True, True, False]
    assert [finding.allowed is None for finding in found] == [False, True, True, False, False]
    # JSON has no word for them, so the wire carries none.
    told = json.dumps([finding.model_dump() for finding in found], allow_nan=False)
    assert [WorstElement.model_validate(element) for element in json.loads(told)] == found


def test_an_overflowing_error_is_none() -> None:
    (only,) = find(torch.tensor([-1e308], dtype=torch.float64), torch.tensor([1.5e308], dtype=torch.float64))
    assert (only.error, only.got) == (None, "-1e+308")


def test_the_list_is_bounded_and_ties_are_ordered_by_index() -> None:
    found = find(torch.zeros(1 << 20), torch.ones(1 << 20))
    assert [finding.index for finding in found] == [[place] for place in range(limits.WORST_ELEMENTS)]
    want = torch.ones(1000)
    want[990:] = 5.0
    want[7] = 9.0
    assert [element.index[0] for element in find(torch.zeros(1000), want)] == [7, *range(990, 997)]


def test_an_empty_result_has_no_worst_elements() -> None:
    assert find(torch.zeros(0, 3), torch.zeros(0, 3)) == []
    assert find(torch.ones(3), torch.ones(3)) == []


def test_magnitude_widens_the_allowed_error() -> None:
    got, want = torch.tensor([9.0]), torch.tensor([0.0])
    for magnitude, allowed in ((100.0, 1.001), (INF, 0.001)):
        suspects = Suspects(got, want, torch.tensor([True]), magnitude=torch.tensor([magnitude]))
        assert worst_elements(suspects, (1,), TIGHT)[0].allowed == pytest.approx(allowed)


@pytest.fixture
def arena(catalogue: Catalogue) -> Iterator[Arena]:
    made = Arena(catalogue.load("twice").manifest, {"n": 10}, {})
    yield made
    made.close()


def test_a_mismatch_holds_the_worst_elements(arena: Arena) -> None:
    x = torch.arange(10.0)
    question = Question(inputs={"x": x}, outputs={"out": 2 * x}, magnitudes={})
    arena.reveal(question.inputs)
    values = question.outputs["out"].clone()
    values[3], values[7] = 7.0, 10.0
    arena.buffers["out"].write(values)
    mismatch = compare(arena, arena.snapshot(), question)
    assert mismatch is not None
    assert mismatch.index == [3]
    assert [(element.index, element.got, element.error) for element in mismatch.worst] == [
        ([7], "10", 4.0),
        ([3], "7", 1.0),
    ]
    assert mismatch.max_error == 4.0


def test_unwritten_elements_are_marked(arena: Arena) -> None:
    x = torch.arange(10.0)
    arena.reveal({"x": x})
    mismatch = compare(arena, arena.snapshot(), Question({"x": x}, {"out": 2 * x}, {}))
    assert mismatch is not None
    assert {element.got for element in mismatch.worst} == {"never written"}
    assert {element.error for element in mismatch.worst} == {None}
    assert len(mismatch.worst) == limits.WORST_ELEMENTS


def test_changed_inputs_are_listed_too(arena: Arena) -> None:
    x = torch.arange(10.0)
    arena.reveal({"x": x})
    changed = x.clone()
    changed[4], changed[6] = 5.0, NAN
    arena.buffers["x"].write(changed)
    mismatch = changed_input(arena, Question({"x": x}, {"out": 2 * x}, {}))
    assert mismatch is not None
    assert [(element.index, element.got, element.expected) for element in mismatch.worst] == [
        ([6], "nan", "6"),
        ([4], "5", "4"),
    ]


def test_an_old_mismatch_has_no_worst_elements() -> None:
    old = {"argument": "out", "kind": "value", "index": [1], "wrong": 1, "total": 3, "max_error": 2.0}
    assert Mismatch.model_validate(old).worst == []
