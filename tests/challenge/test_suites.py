"""Cheap checks of every challenge, without kernels. ``tests/judge/test_catalogue.py`` proves that suites are
strong.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from grader.authoring.calibrate import calibrate
from grader.authoring.categories import category_checks
from grader.authoring.contract import contract_check
from grader.authoring.costs import cost_checks
from grader.authoring.examples import example_check
from grader.authoring.specs import text_checks
from grader.challenge.cases import Category
from grader.challenge.catalogue import find_catalogue
from grader.judge.oracle import ask

CATALOGUE = find_catalogue()
SLUGS = pytest.mark.parametrize("slug", CATALOGUE.slugs())
# Triton's interpreter needs about a millisecond per program; a suite should take a few seconds.
MOST_ELEMENTS = 2_000_000


@SLUGS
def test_every_text_contract_and_example_is_complete(slug: str) -> None:
    challenge = CATALOGUE.load(slug)
    checks = [*text_checks(challenge), contract_check(challenge), example_check(challenge)]
    assert [check for check in checks if check.status.fails] == []
    staff = challenge.reference_folder / "staff"
    shipped = [staff / f"solution{language.suffix}" for language in challenge.manifest.languages]
    assert [path for path in [*shipped, staff / "hidden_cases.py"] if not Path(path).is_file()] == []


@SLUGS
def test_suites_cover_edges_and_costs_are_possible(slug: str) -> None:
    challenge = CATALOGUE.load(slug)
    assert [
        check for check in [*category_checks(challenge), *cost_checks(challenge)] if check.status.fails
    ] == []


@SLUGS
def test_suites_stay_small(slug: str) -> None:
    challenge = CATALOGUE.load(slug)
    cases, buffers = challenge.suite("cpu", hidden=False), challenge.manifest.buffers
    shapes = [challenge.manifest.shape(arg, case.sizes) for case in cases for arg in buffers]
    assert sum(math.prod(shape) for shape in shapes) <= MOST_ELEMENTS


@SLUGS
def test_the_spec_names_every_argument(slug: str) -> None:
    challenge = CATALOGUE.load(slug)
    for arg in challenge.manifest.args:
        assert any(form in challenge.spec for form in (f"`{arg.name}`", f"{arg.name} = ", f"{arg.name}["))


@pytest.mark.parametrize("slug", ["softmax", "vector_add", "matmul"])
def test_special_values_reach_the_output(slug: str) -> None:
    """A NaN case without NaN in its answers would prove nothing."""
    challenge = CATALOGUE.load(slug)
    for case in [case for case in challenge.suite("cpu") if case.category is Category.NAN]:
        assert any(bool(tensor.isnan().any()) for tensor in ask(challenge, case, 11).outputs.values()), (
            case.name
        )


@pytest.mark.parametrize(("slug", "name"), [("matmul", "k_0"), ("histogram", "no_values")])
def test_an_empty_sum_writes_zeros(slug: str, name: str) -> None:
    challenge = CATALOGUE.load(slug)
    answer = ask(challenge, challenge.case(name), 11).outputs["out"]
    assert answer.numel() > 0
    assert torch.equal(answer, torch.zeros_like(answer))


def test_native_and_exact_references_agree_on_a_suite() -> None:
    challenge = CATALOGUE.load("softmax")
    found = calibrate(challenge, challenge.suite("cpu"), "cpu")
    assert found.disagreements == []
    assert {error.case for error in found.measured} >= {"basic", "large", "plus_1000"}
