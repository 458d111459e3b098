"""Patterns of wrong numbers, of results that not every challenge has."""

from __future__ import annotations

from pathlib import Path

import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.judge.evidence import Wrong, answers_another, pattern_of

CHALLENGE = Catalogue(Path(__file__).parents[2]).load("transpose")
RESULT = CHALLENGE.manifest.results[0]


def wrong(shape: tuple[int, ...], got: torch.Tensor, poisoned: torch.Tensor | None = None) -> Wrong:
    want = torch.arange(got.numel(), dtype=torch.float32) + 1
    return Wrong(RESULT, shape, got, want, got != want, poisoned, None, CHALLENGE.manifest.tolerance)


def test_a_challenge_without_inputs_has_no_other_question() -> None:
    found = wrong((32,), torch.arange(32, dtype=torch.float32) * 3)
    case = Case("case", Category.BASIC, {"rows": 4, "cols": 8})
    assert answers_another(found, CHALLENGE, case, {}, rounding=False) is None


def test_of_a_matrix_whose_first_elements_alone_count_rows_are_not_told() -> None:
    poisoned = torch.arange(20) % 2 == 0
    found = pattern_of(wrong((8, 4), torch.zeros(20), poisoned))
    assert found is not None
    assert found.kind == "unwritten"
