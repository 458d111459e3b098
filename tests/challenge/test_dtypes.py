"""The table of dtypes agrees with torch and with tables inside boxes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from grader.challenge import scalars
from grader.challenge.cases import Recipe
from grader.challenge.dtypes import BITS, DType
from grader.challenge.numbers import (
    decode,
    encode,
    held_type,
    largest,
    native,
    rounded,
    small_float,
    stored_type,
)
from tests.challenge.test_draw import RECIPES

ROOT = Path(__file__).parents[2]
# torch lacks operations on them, or the type.
EIGHTS = [dtype for dtype in DType if small_float(dtype) and not dtype.packed]
PACKED = [dtype for dtype in DType if dtype.packed]
PLAIN = [dtype for dtype in DType if dtype.floating and dtype.held == dtype.value]


def torch_dtype(dtype: DType) -> torch.dtype:
    found: torch.dtype = getattr(torch, dtype.value)
    return found


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if not dtype.packed])
def test_a_dtypes_row_agrees_with_torch(dtype: DType) -> None:
    kind = torch_dtype(dtype)
    assert (dtype.itemsize, dtype.floating) == (kind.itemsize, kind.is_floating_point or kind.is_complex)
    assert stored_type(dtype).itemsize in BITS
    assert dtype.bytes_of(6) == 6 * kind.itemsize
    if not dtype.floating and dtype is not DType.BOOL:
        integer, held = dtype.as_integer, torch.iinfo(kind)
        assert integer.low in (held.min, -(2**53))
        assert integer.high in (held.max, 2**53 - 1)
        assert integer.narrower == "" or 2 * getattr(torch, integer.narrower).itemsize == dtype.itemsize
    if not dtype.floating:
        return
    facts, known = dtype.as_float, torch.finfo(kind)
    assert 2.0 ** (1 - facts.digits) == known.eps
    assert known.max / 4 < float(facts.huge) < known.max / 2  # its double is finite
    if facts.signed:
        assert facts.smallest_normal == known.tiny
        assert float(facts.denormal) < known.tiny < float(facts.tiny)


@pytest.mark.parametrize("dtype", EIGHTS)
def test_small_floats_are_torchs_and_every_code_survives(dtype: DType) -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    values, theirs = decode(codes, dtype), codes.view(torch_dtype(dtype)).float()
    assert torch.equal(values.nan_to_num(-7), theirs.nan_to_num(-7))
    assert torch.equal(values.isnan(), theirs.isnan())
    assert torch.equal(encode(values, dtype), codes)
    drawn = torch.exp(8 * torch.randn(20_000, generator=torch.Generator().manual_seed(1)))
    drawn[::2] *= 1 if not dtype.as_float.signed else -1
    most = largest(dtype)
    assert torch.equal(rounded(drawn, dtype), drawn.clamp(-most, most).to(torch_dtype(dtype)).float())


def test_float64_is_rounded_once() -> None:
    """Through float32, 1.0625 and a little more would be halfway, and rounded to the even 1."""
    values = torch.tensor([1.0625 + 1e-12, 1.0625, 1.1875, 500.0, float("nan"), -0.0], dtype=torch.float64)
    found = rounded(values, DType.FLOAT8_E4M3)
    assert found.tolist()[:4] == [1.125, 1.0, 1.25, 448.0]
    assert found[4].isnan()
    assert torch.signbit(found[5])


@pytest.mark.parametrize("dtype", PACKED)
def test_two_packed_elements_share_a_byte(dtype: DType) -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    values = decode(codes, dtype)
    assert values.dtype is held_type(dtype)
    assert torch.equal(encode(values, dtype), codes)
    assert dtype.bytes_of(6) == 3
    assert dtype.given_shape((5, 6)) == (5, 3)


def test_four_bits_hold_these_numbers() -> None:
    codes = torch.arange(16, dtype=torch.uint8)
    fours, whole = decode(codes, DType.FLOAT4_E2M1)[::2], decode(codes, DType.INT4)[::2]
    assert fours.tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6]
    assert whole.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1]
    ties = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 9, float("nan")])
    assert rounded(ties, DType.FLOAT4_E2M1).tolist() == [0, 1, 1, 2, 2, 4, 4, 6, 6]


@pytest.mark.parametrize("dtype", PLAIN)
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
    most = largest(dtype) if small_float(dtype) else float("inf")
    for value in (*ends, *((-2.7, 0.1, 1e-3, 65504.0) if dtype.floating else (min(7, ends[1]),))):
        given = min(value, most) if dtype.floating else value  # a conversion saturates on a GPU
        wanted = torch.tensor([given], dtype=torch.float64 if dtype.floating else torch_dtype(dtype))
        wanted = wanted.to(getattr(torch, dtype.value))
        assert scalars.data_of(dtype, value) == bytes(wanted.view(torch.uint8).tolist())
        assert scalars.rounded(dtype, value) == wanted.item()


@pytest.mark.parametrize("dtype", [dtype for dtype in EIGHTS if dtype.as_float.nan_poison])
def test_the_poison_of_a_small_float_is_no_nan_of_a_conversion(dtype: DType) -> None:
    poison = torch.tensor([dtype.as_float.poison], dtype=torch.uint8)
    assert decode(poison, dtype).isnan()
    assert encode(torch.tensor([float("nan")]), dtype) != poison
    assert torch.tensor([float("nan")]).to(torch_dtype(dtype)).view(torch.uint8) != poison


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
@pytest.mark.parametrize("dtype", list(DType))
def test_every_recipe_draws_every_dtype(dtype: DType, recipe: Recipe) -> None:
    shape = dtype.held_shape((5, 8))
    drawn = recipe.draw(shape, held_type(dtype), torch.Generator().manual_seed(1))
    assert (drawn.dtype, drawn.shape) == (held_type(dtype), shape)
    values = rounded(drawn, dtype)
    assert torch.equal(decode(encode(values, dtype), dtype).nan_to_num(), values.reshape(-1).nan_to_num())


def test_a_reference_gets_pytorchs_types() -> None:
    assert native(torch.tensor([0, 1], dtype=torch.uint8), DType.BOOL).dtype is torch.bool
    assert native(torch.zeros(3, 2), DType.COMPLEX64).shape == (3,)


@pytest.mark.parametrize("dtype", list(DType))
def test_the_docs_list_the_dtypes_c_type(dtype: DType) -> None:
    rows = (ROOT / "docs" / "interface.md").read_text().splitlines()
    assert any(f"`{dtype}`" in row and f"`{dtype.c_type}`" in row for row in rows)
