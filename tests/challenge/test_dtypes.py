"""The table of dtypes agrees with torch and with tables inside boxes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from grader.challenge import scalars
from grader.challenge.cases import Recipe
from grader.challenge.dtypes import BITS, DType
from tests.challenge.test_draw import RECIPES

ROOT = Path(__file__).parents[2]


def torch_dtype(dtype: DType) -> torch.dtype:
    found: torch.dtype = getattr(torch, dtype.value)
    return found


@pytest.mark.parametrize("dtype", list(DType))
def test_a_dtypes_row_agrees_with_torch(dtype: DType) -> None:
    kind = torch_dtype(dtype)
    assert (dtype.itemsize, dtype.floating) == (kind.itemsize, kind.is_floating_point)
    assert dtype.itemsize in BITS
    if not dtype.floating:
        integer, held = dtype.as_integer, torch.iinfo(kind)
        assert integer.low in (held.min, -(2**53))
        assert integer.high in (held.max, 2**53 - 1)
        assert integer.narrower == "" or 2 * getattr(torch, integer.narrower).itemsize == dtype.itemsize
        return
    facts, known = dtype.as_float, torch.finfo(kind)
    assert (facts.smallest_normal, 2.0 ** (1 - facts.digits)) == (known.tiny, known.eps)
    assert known.max / 3 < float(facts.huge) < known.max / 2  # its double is finite
    assert float(facts.denormal) < known.tiny < float(facts.tiny)


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype.floating])
def test_the_poison_is_a_signalling_nan_and_the_large_number_is_finite(dtype: DType) -> None:
    facts, word = dtype.as_float, getattr(torch, BITS[dtype.itemsize])
    poison, quieted, large = (
        torch.tensor([bits], dtype=word).view(torch_dtype(dtype))
        for bits in (facts.poison, facts.poison | facts.quiet_bit, facts.large)
    )
    assert poison.isnan()
    assert quieted.isnan()
    assert facts.poison & facts.quiet_bit == 0
    assert float(large) > torch.finfo(torch_dtype(dtype)).max / 4


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype.facts.scalar])
def test_a_scalar_has_the_bytes_that_torch_gives_its_type(dtype: DType) -> None:
    """Its ends, a negative value if there is one, and floats that must be rounded."""
    ends = (0, 1) if dtype.floating else scalars.ends(dtype)
    for value in (*ends, *((-2.7, 0.1, 1e-3, 65504.0) if dtype.floating else (7,))):
        wanted = torch.tensor([value], dtype=torch.float64 if dtype.floating else getattr(torch, dtype.value))
        wanted = wanted.to(getattr(torch, dtype.value))
        assert scalars.data_of(dtype, value) == bytes(wanted.view(torch.uint8).tolist())
        assert scalars.rounded(dtype, value) == wanted.item()


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
@pytest.mark.parametrize("dtype", list(DType))
def test_every_recipe_draws_every_dtype(dtype: DType, recipe: Recipe) -> None:
    drawn = recipe.draw((5, 7), torch_dtype(dtype), torch.Generator().manual_seed(1))
    assert (drawn.dtype, drawn.shape) == (torch_dtype(dtype), (5, 7))


@pytest.mark.parametrize("dtype", list(DType))
def test_the_docs_list_the_dtypes_c_type(dtype: DType) -> None:
    rows = (ROOT / "docs" / "interface.md").read_text().splitlines()
    assert any(f"`{dtype}`" in row and f"`{dtype.c_type}`" in row for row in rows)
