"""A request for one case with own sizes and inputs: what is taken, and the sentence that refuses the rest."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader import limits
from grader.challenge.catalogue import find_catalogue
from grader.challenge.draw import draw_inputs
from grader.challenge.own_case import own_case, seed_of
from grader.device_kinds import EMULATED, kind_of
from grader.errors import BadRequest, Conflict
from grader.schemas.own_case import OwnCase

CATALOGUE = find_catalogue()
KIND = kind_of(EMULATED)


def drawn(slug: str, **asked: Any) -> tuple[dict[str, int], dict[str, list[Any]]]:
    challenge = CATALOGUE.load(slug)
    wanted = OwnCase(name="basic", **asked)
    case = own_case(challenge, wanted, KIND)
    inputs = draw_inputs(challenge.manifest, case, seed_of(challenge, wanted))
    return dict(case.sizes), {name: values.tolist() for name, values in inputs.items()}


def test_a_recipe_values_and_a_size() -> None:
    sizes, inputs = drawn(
        "vector_add", sizes={"n": "2 ^ 2 - 1"}, inputs={"a": "ramp(1, 0.5)", "b": "[1, -2.5, inf]"}
    )
    assert sizes == {"n": 3}
    assert inputs == {"a": [1.0, 1.5, 2.0], "b": [1.0, -2.5, float("inf")]}


def test_given_values_bring_their_sizes() -> None:
    sizes, inputs = drawn("matmul", inputs={"a": [[1, 2], [3, 4], [5, 6]]})
    assert (sizes["m"], sizes["k"]) == (3, 2)
    assert inputs["a"] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert len(inputs["b"]) == 2


def test_sizes_may_name_the_cases_own() -> None:
    own = next(case for case in CATALOGUE.load("vector_add").cases if case.name == "basic").sizes["n"]
    assert drawn("vector_add", sizes={"n": "2*n + 1"})[0] == {"n": 2 * own + 1}


def test_integers_are_exact_and_wrap() -> None:
    _, inputs = drawn("histogram", sizes={"n": 3}, inputs={"x": "ramp(2147483646, 1)"})
    assert inputs["x"] == [2147483646, 2147483647, -2147483648]


def test_the_same_seed_without_a_choice_and_no_hidden_case() -> None:
    assert drawn("vector_add", sizes={"n": 4}) == drawn("vector_add", sizes={"n": 4})
    assert drawn("vector_add", sizes={"n": 4}) != drawn("vector_add", sizes={"n": 4}, seed=1)
    challenge = CATALOGUE.load("vector_add")
    for hidden in challenge.hidden_cases:
        with pytest.raises(BadRequest, match="has no public case"):
            own_case(challenge, OwnCase(name=hidden.name), KIND)


def test_a_case_for_gpus_runs_at_smaller_sizes() -> None:
    challenge = CATALOGUE.load("vector_add")
    case = own_case(challenge, OwnCase(name="beyond_2_31", sizes={"n": 100}), KIND)
    assert (case.on, case.hidden) == (None, False)
    with pytest.raises(BadRequest, match="too large for this board"):
        own_case(challenge, OwnCase(name="beyond_2_31"), kind_of("cpu"))


@pytest.mark.parametrize(
    ("slug", "asked", "message"),
    [
        ("vector_add", {"name": "no_such"}, "vector_add has no public case 'no_such'. It has basic, empty,"),
        ("vector_add", {"sizes": {"n": 10_000_000_000}}, "make 111.8 GiB of arrays; a run with your own sizes may"),
        ("vector_add", {"sizes": {"n": "80 * 10**9 / 12"}}, "is not a whole number"),
        ("vector_add", {"sizes": {"n": 1 << 60}}, "of arrays; a run with your own sizes may have 256 MiB. Choose"),
        ("vector_add", {"sizes": {"n": "9" * 150}}, "Size n is too large"),
        ("vector_add", {"sizes": {"n": -1}}, "Size n is negative: -1. Choose 0 or more."),
        ("vector_add", {"sizes": {"n": "n - 10**6"}}, "Size n is negative: -999,000."),
        ("vector_add", {"sizes": {"m": 1}}, "vector_add has no size 'm'. Its sizes are n."),
        ("vector_add", {"sizes": {"n": "k"}}, "Size n: size 'k' is not known"),
        ("vector_add", {"sizes": {"n": "__import__('os')"}}, "Size n: "),
        ("vector_add", {"sizes": {"n": "1 / 0"}}, "divides by zero"),
        ("vector_add", {"inputs": {"c": "ramp"}}, "vector_add has no input 'c'. Its inputs are a, b."),
        ("vector_add", {"inputs": {"out": "ramp"}}, "'out' is an output of vector_add, which your kernel writes."),
        ("vector_add", {"inputs": {"n": [1]}}, "'n' is a size of vector_add, not an input."),
        ("vector_add", {"inputs": {"a": "[1, two, 3]"}}, "Input a: 'two' at place 1 is not a number."),
        ("vector_add", {"inputs": {"a": "[1, [2]"}}, "the brackets of its list do not match"),
        ("vector_add", {"sizes": {"n": 5}, "inputs": {"a": [1, 2]}}, "Input a has 2 values, but its shape [n] needs 5"),
        ("vector_add", {"inputs": {"a": [1, 2], "b": [1]}}, "has 2 values, but its shape [n] needs 1"),
        ("vector_add", {"inputs": {"a": "rmp"}}, "there is no recipe 'rmp'. Recipes: ramp(start, step); zeros"),
        ("vector_add", {"inputs": {"a": "constant()"}}, "does not take 0 numbers. Write it as constant(value)."),
        ("vector_add", {"inputs": {"a": "uniform(2, 1)"}}, "cannot be drawn. Write the lower number first."),
        ("vector_add", {"inputs": {"a": "uniform(0, inf)"}}, "the numbers of uniform are finite"),
        ("vector_add", {"inputs": {"a": 3}}, "Input a is an array; 3 is one number. Write [3], or constant(3)."),
        ("vector_add", {"inputs": {"a": [0] * (limits.OWN_VALUES + 1)}}, "16,385 values; a run may have 16,384"),
        ("histogram", {"inputs": {"x": [1.5]}}, "Input x has the type int32; 1.5 at place 0 is no such number."),
        ("histogram", {"inputs": {"x": "constant(3e9)"}}, "no such number. Write whole numbers from -2,147,483,648"),
        ("histogram", {"inputs": {"x": "normal"}}, "Use integers(low, high), ramp, choice or values."),
        ("matmul", {"inputs": {"a": [[1, 2], [3]]}}, "Input a: its rows have different lengths."),
        ("matmul", {"sizes": {"m": 2, "k": 3}, "inputs": {"a": [[1, 2], [3, 4], [5, 6]]}}, "has the shape [3, 2]"),
        ("matmul", {"sizes": {"m": 2000, "n": 2000, "k": 2000}}, "need 16,000,000,000 operations"),
        ("saxpy", {"inputs": {"alpha": [1]}}, "Input alpha is one number, not a list. Write it as alpha=2.5."),
    ],
)  # fmt: skip
def test_what_is_refused_and_what_to_do(slug: str, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        own_case(CATALOGUE.load(slug), OwnCase(**{"name": "basic", **asked}), KIND)
    assert message in refused.value.told
    assert refused.value.hint


def test_a_case_of_an_older_version() -> None:
    with pytest.raises(Conflict, match="you chose the case 'basic' in version 1") as refused:
        own_case(CATALOGUE.load("vector_add"), OwnCase(name="basic", version=1), KIND)
    assert "your code is kept" in refused.value.hint


def test_equal_requests_are_stored_alike() -> None:
    one = OwnCase(name="basic", sizes={"n": 1, "m": 2}, inputs={"x": [float("nan"), 1]}, version=3)
    other = OwnCase(name="basic", sizes={"m": 2, "n": 1}, inputs={"x": ["nan", 1]})
    assert one.stored() == other.stored()
    assert OwnCase.model_validate_json(one.stored()) == other


def test_a_ramp_is_drawn_where_its_generator_is() -> None:
    challenge = CATALOGUE.load("vector_add")
    case = own_case(challenge, OwnCase(name="basic", inputs={"a": "ramp"}), KIND)
    values = case.inputs["a"].draw((2, 3), torch.float16, torch.Generator())  # type: ignore[union-attr]
    assert values.dtype is torch.float16
    assert values.flatten().tolist() == [0, 1, 2, 3, 4, 5]
