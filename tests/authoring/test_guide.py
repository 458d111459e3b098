"""The teacher's guide explains every key, category, mistake and check."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from grader.authoring.generic import WORDS
from grader.challenge import cases
from grader.challenge.cases import Category
from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Kind, Limits, Manifest, Values, Waivable
from grader.schemas.proof import Check
from tests.authoring.conftest import Write

ROOT = Path(__file__).resolve().parents[2]
GUIDE = "".join((ROOT / "docs" / f"{name}.md").read_text() for name in ("authoring", "proving"))
KEYS = {*Manifest.model_fields, *Argument.model_fields, *Values.model_fields, *Limits.model_fields}
RECIPES = {
    name for name, member in vars(cases).items() if isinstance(member, type) and hasattr(member, "draw")
} - {
    "Recipe",
    "PartRecipe",
}


@pytest.mark.parametrize("word", sorted({*KEYS, *Category, *DType, *Kind, *WORDS, *RECIPES}))
def test_the_guide_explains_every_word(word: str) -> None:
    assert re.search(rf"[`\[. ]{word}[`\]. =(]", GUIDE)


def test_the_guide_explains_every_check(write: Write) -> None:
    made = write()
    checks: dict[str, Check] = made.proven()
    sources = "".join(path.read_text() for path in (ROOT / "grader" / "authoring").glob("*.py"))
    named = set(re.findall(r'(?:check\(|name=)"(\w+)"', sources)) | set(checks)
    assert [name for name in sorted(named) if f"`{name}`" not in GUIDE] == []


def test_the_guide_lists_every_waivable_check() -> None:
    told = GUIDE.partition("`[waives]` lets a challenge do without")[2].partition("```")[0]
    others = {word for word in get_args(Waivable) if word not in {*Category}}
    assert [word for word in sorted(others) if f"`{word}`" not in told] == []
