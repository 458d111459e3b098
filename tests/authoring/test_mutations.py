"""Mutations of right kernels: each changes and names one place, and leaves a source that parses."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path

import pytest

from grader.authoring.mutations import made_from, marked, mutations
from grader.challenge.catalogue import Catalogue
from grader.languages import Language

ROOT = Path(__file__).parents[2]
CATALOGUE = Catalogue(ROOT)
# The possible mistakes of a Triton and a CUDA solution of these challenges.
KINDS = {
    "softmax": ({"bound_off_by_one", "no_mask", "wrong_filler", "no_guard"}, {"no_barrier", "wrong_start"}),
    "matmul": ({"wrong_stride", "blocks_rounded_down", "swapped_operands"}, {"no_barrier", "wrong_stride"}),
    "histogram": ({"lost_updates", "half_sum", "not_added"}, {"lost_updates", "bound_off_by_one"}),
    "argmax_rows": ({"nan_rule_dropped", "tie", "swapped_branches"}, {"tie", "half_a_warp"}),
}


@pytest.mark.parametrize("slug", KINDS)
def test_solutions_have_mutations_of_many_kinds(slug: str) -> None:
    challenge = CATALOGUE.load(slug)
    for language, wanted in zip((Language.TRITON, Language.CUDA), KINDS[slug], strict=True):
        found = mutations(challenge.solutions[language], language, challenge.manifest)
        kinds = {mutation.name.rstrip("_0123456789") for mutation in found}
        assert wanted <= kinds
        assert len({mutation.name for mutation in found}) == len(found) >= 8


@pytest.mark.parametrize("slug", CATALOGUE.slugs())
def test_a_mutation_changes_one_place_and_parses(slug: str) -> None:
    challenge = CATALOGUE.load(slug)
    for language, source in challenge.solutions.items():
        for mutation in mutations(source, language, challenge.manifest):
            first, _, rest = mutation.source.partition("\n")
            assert "Mistake: " in first
            matcher = difflib.SequenceMatcher(None, source.splitlines(), rest.splitlines(), autojunk=False)
            changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
            assert len(changed) <= 3, mutation.mistake  # also the docstring, and an include
            if language.python:
                ast.parse(mutation.source)


def test_a_mutant_says_which_solution_it_was_made_from() -> None:
    text = marked("# Mistake: none.\nx = 1\n", Language.TRITON, "solution")
    assert made_from(text) == made_from(marked("other\n", Language.CUDA, "solution")) != ""
    assert made_from("# Mistake: none.\nx = 1\n") == ""
