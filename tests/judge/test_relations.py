"""Wrong results that are a simple function of an input, or the answer for another input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.judge.evidence import Pattern, Wrong, pattern_of
from grader.judge.oracle import right_answers
from grader.judge.other_questions import answers_another
from grader.judge.relations import related

CATALOGUE = Catalogue(Path(__file__).parents[2])


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(5))


def wrong(challenge: Challenge, got: torch.Tensor, want: torch.Tensor) -> Wrong:
    result = challenge.manifest.results[-1]
    flat = got.reshape(-1), want.reshape(-1)
    return Wrong(
        result,
        tuple(want.shape),
        *flat,
        flat[0] != flat[1],
        None,
        None,
        challenge.manifest.allowance(result, {}, {}),
    )


RELU = CATALOGUE.load("relu")
ARGMAX = CATALOGUE.load("argmax_rows")
X, ROWS = noise(300), noise(8, 40) * 5


@pytest.mark.parametrize(
    ("challenge", "got", "want", "values", "text"),
    [
        (RELU, X, X.clamp(min=0), X, "out is a copy of x, element by element in the same order."),
        (RELU, X.abs(), X.clamp(min=0), X, "Every element of out is the absolute value of x."),
        (
            ARGMAX,
            ROWS.amax(dim=1).long(),
            ROWS.argmax(dim=1),
            ROWS,
            "out holds the value of x at the right index, cut to an integer, instead of the index.",
        ),
        (
            CATALOGUE.load("stream_compact"),
            torch.tensor([300]),
            (X > 0).sum().reshape(1),
            X,
            "count is how many elements of x are not 0, but those above 0 are to be counted.",
        ),
    ],
)
def test_a_simple_function_of_an_input_is_named(
    challenge: Challenge, got: torch.Tensor, want: torch.Tensor, values: torch.Tensor, text: str
) -> None:
    found = related(wrong(challenge, got, want), {"x": values})
    assert found is not None
    assert found.text == text


def test_huge_values_make_nothing_a_function_of_an_input() -> None:
    huge = X.clone()
    huge[:8] = 1e30
    found = wrong(RELU, X.flip(0), huge)
    assert related(replace(found, magnitude=huge), {"x": noise(300).flip(0) * 2}) is None


def asked(
    slug: str, sizes: dict[str, int], given: dict[str, torch.Tensor], as_if: dict[str, torch.Tensor]
) -> Pattern:
    """What the answer for ``as_if`` is called in a case with ``given``."""
    challenge = CATALOGUE.load(slug)
    case = Case("case", Category.BASIC, sizes)
    name = challenge.manifest.results[-1].name
    want = right_answers(challenge, case, given)[name]
    got = right_answers(challenge, case, {**given, **as_if})[name].to(torch.float32)
    found = answers_another(
        wrong(challenge, got, want.to(torch.float32)), challenge, case, given, rounding=False
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("as_if", "text"),
    [
        (lambda a, b: {"b": -b}, "The result is right if b has the other sign"),
        (lambda a, b: {"b": a}, "The result is right if b is a: a is used in its place."),
    ],
)
def test_other_inputs_explain_a_sum(as_if: object, text: str) -> None:
    assert callable(as_if)
    a, b = X, noise(600)[300:]
    assert asked("vector_add", {"n": 300}, {"a": a, "b": b}, as_if(a, b)).text.startswith(text)


def test_a_factor_of_each_row_is_told_from_one_factor() -> None:
    want = noise(6, 40).exp()
    of_row = torch.arange(2, 8)[:, None].float()
    found = pattern_of(wrong(CATALOGUE.load("softmax"), want * of_row, want))
    assert found is not None
    assert found.kind == "row_factor"
    assert "from 2 to 7" in found.text
