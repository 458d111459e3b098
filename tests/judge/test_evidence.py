"""Patterns of wrong numbers, of results that not every challenge has."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.judge.evidence import Wrong, answers_another, line_pattern, pattern_of

CHALLENGE = Catalogue(Path(__file__).parents[2]).load("transpose")
RESULT = CHALLENGE.manifest.results[0]


def wrong(shape: tuple[int, ...], got: torch.Tensor, poisoned: torch.Tensor | None = None) -> Wrong:
    want = torch.arange(got.numel(), dtype=torch.float32) + 1
    return Wrong(RESULT, shape, got, want, got != want, poisoned, None, CHALLENGE.manifest.tolerance)


def test_a_challenge_without_inputs_has_no_alternative_answer() -> None:
    found = wrong((32,), torch.arange(32, dtype=torch.float32) * 3)
    case = Case("case", Category.BASIC, {"rows": 4, "cols": 8})
    assert answers_another(found, CHALLENGE, case, {}, rounding=False) is None


def test_row_patterns_are_not_reported_if_only_first_elements_count() -> None:
    poisoned = torch.arange(20) % 2 == 0
    found = pattern_of(wrong((8, 4), torch.zeros(20), poisoned))
    assert found is not None
    assert found.kind == "unwritten"


@pytest.mark.parametrize(
    ("shape", "places", "sentence"),
    [
        (
            (64, 96),
            (slice(None), slice(3, None, 16)),
            "Exactly every 16th column of out is wrong, from column 3 on.",
        ),
        ((64, 96), (slice(5, 61, 55), slice(None)), "All wrong elements of out are in rows 5 and 60."),
        (
            (128, 96),
            (slice(31, None, 32), slice(None)),
            "Exactly every 32nd row of out is wrong, from row 31 on.",
        ),
        ((4096,), (slice(5, None, 32),), "Exactly every 32nd element of out is wrong, from element 5 on."),
        ((64, 96), (slice(7, 8), slice(None)), "All wrong elements of out are in row 7."),
    ],
)
def test_wrong_elements_on_lines_are_reported_by_line(
    shape: tuple[int, ...], places: tuple[slice, ...], sentence: str
) -> None:
    got = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape) + 1
    got[places] = got[places] * 3 + torch.rand(got[places].shape, generator=torch.Generator().manual_seed(3))
    found = line_pattern(wrong(shape, got.reshape(-1)))
    assert found is not None
    assert found.text == sentence


def test_scattered_wrong_elements_have_no_pattern() -> None:
    got = torch.arange(64 * 96, dtype=torch.float32) + 1
    got[torch.randperm(6144, generator=torch.Generator().manual_seed(1))[:300]] *= 2.5
    assert line_pattern(wrong((64, 96), got)) is None
