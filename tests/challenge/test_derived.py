"""Inputs that depend on each other: row pointers, columns near the diagonal, statistics of rows."""

from __future__ import annotations

import pytest
import torch

from grader.challenge.cases import Case, Category, Filling, Normal
from grader.challenge.derived import NearDiagonal, RowMean, RowPointers, RowRstd
from grader.challenge.draw import draw_inputs
from grader.challenge.model import Manifest
from grader.errors import ChallengeInvalid

CSR = {
    "title": "t",
    "track": "t",
    "difficulty": "easy",
    "version": 1,
    "languages": ["cuda"],
    "args": [
        {"name": "mean", "kind": "input", "dtype": "float32", "shape": ["rows"]},
        {"name": "rstd", "kind": "input", "dtype": "float32", "shape": ["rows"]},
        {"name": "x", "kind": "input", "dtype": "float32", "shape": ["rows", "cols"]},
        {"name": "row_ptr", "kind": "input", "dtype": "int64", "shape": ["rows + 1"]},
        {"name": "out", "kind": "output", "dtype": "float32", "shape": ["rows"]},
        {"name": "rows", "kind": "size"},
        {"name": "cols", "kind": "size"},
        {"name": "nnz", "kind": "size"},
    ],
    "cost": {"bytes": "rows", "flops": "rows"},
    "workloads": [{"name": "w", "sizes": {"rows": 1, "cols": 1, "nnz": 1}}],
}


def derive(
    recipe: Filling, rows: int, nnz: int = 0, name: str = "row_ptr", seed: int = 1, cols: int = 3
) -> torch.Tensor:
    sizes = {"rows": rows, "cols": cols, "nnz": nnz}
    one = Case("one", Category.BASIC, sizes, {name: recipe, "x": Normal(1000, 2)})
    return draw_inputs(Manifest.model_validate(CSR), one, seed)[name]


@pytest.mark.parametrize(
    "recipe", [RowPointers(), RowPointers(empty=0.5), RowPointers(empty=1), RowPointers(huge=1)]
)
@pytest.mark.parametrize(("rows", "nnz"), [(0, 0), (1, 0), (1, 9), (5, 0), (5, 3), (40, 1000), (3, 2**20)])
def test_row_pointers_begin_at_0_never_fall_and_end_at_the_total(
    recipe: RowPointers, rows: int, nnz: int
) -> None:
    drawn = derive(recipe, rows, nnz)
    assert (drawn[0], drawn[-1], drawn.dtype) == (0, nnz, torch.int64)
    assert (drawn.diff() >= 0).all()
    assert torch.equal(drawn, derive(recipe, rows, nnz))
    assert recipe.words()


def test_row_pointers_follow_their_shares() -> None:
    usual, empty, huge = (
        derive(recipe, 1000, 100_000).diff()
        for recipe in (RowPointers(), RowPointers(empty=0.3), RowPointers(huge=0.6))
    )
    assert (usual == 0).sum() < 20
    assert 250 <= (empty == 0).sum() <= 350
    assert huge.max().item() == pytest.approx(60_000, rel=0.01)
    assert derive(RowPointers(empty=1), 9, 50).diff().max() == 50
    assert derive(RowPointers(huge=1), 9, 50).diff().max() == 50
    assert not torch.equal(derive(RowPointers(), 50, 500, seed=1), derive(RowPointers(), 50, 500, seed=2))


@pytest.mark.parametrize(("nnz", "cols"), [(0, 0), (0, 5), (1, 1), (500, 7), (5000, 2000), (3, 2**40)])
def test_columns_follow_the_diagonal(nnz: int, cols: int) -> None:
    recipe, generator = NearDiagonal(width=16), torch.Generator()
    first, second = (
        recipe.derive({}, {"nnz": nnz, "cols": cols}, (nnz,), torch.int64, generator.manual_seed(4))
        for _ in range(2)
    )
    assert torch.equal(first, second)
    assert ((first >= 0) & (first < max(cols, 1))).all()
    beyond = (first - torch.arange(nnz) * cols // max(nnz, 1)) % max(cols, 1)
    assert (beyond < 16).all()
    assert cols != 2000 or not first.diff().ge(0).all()
    assert "16" in recipe.words()


def test_column_indices_need_at_least_one_column() -> None:
    with pytest.raises(ValueError, match="nnz = 3, but there is no column"):
        NearDiagonal().derive({}, {"nnz": 3, "cols": 0}, (3,), torch.int64, torch.Generator())


def test_row_statistics_match_the_drawn_rows() -> None:
    """``x`` is drawn first although ``mean`` and ``rstd`` come before it in the signature."""
    sizes = {"rows": 6, "cols": 50, "nnz": 0}
    inputs = {"mean": RowMean("x"), "rstd": RowRstd("x", eps=0.5), "x": Normal(1000, 2)}
    drawn = draw_inputs(Manifest.model_validate(CSR), Case("one", Category.BASIC, sizes, inputs), 3)
    assert list(drawn) == ["mean", "rstd", "x", "row_ptr"]
    x = drawn["x"].double()
    assert torch.equal(drawn["mean"], x.mean(1).float())
    assert torch.allclose(drawn["rstd"].double(), (x.var(1, unbiased=False) + 0.5) ** -0.5, rtol=1e-6)
    for recipe in (inputs["mean"], inputs["rstd"]):
        assert "of x" in recipe.words()
        assert derive(recipe, 3, name="mean", cols=0).isnan().all()
        assert derive(recipe, 0, name="mean").shape == (0,)


@pytest.mark.parametrize(
    ("name", "recipe", "said"),
    [
        ("mean", RowMean("z"), r"no input 'z' drawn before it; there are \['row_ptr', 'rstd', 'x'\]"),
        ("mean", RowMean("out"), "no input 'out'"),
        ("row_ptr", RowPointers("entries"), "KeyError: 'entries'"),
        ("row_ptr", RowPointers("rows"), None),
    ],
)
def test_a_bad_derived_recipe_names_case_and_argument(name: str, recipe: Filling, said: str | None) -> None:
    if said is None:
        assert derive(recipe, 3, 4)[-1] == 3
        return
    with pytest.raises(ChallengeInvalid, match=rf"case 'one', input '{name}'.*{said}"):
        derive(recipe, 3, 4, name)


def test_entries_without_a_row_are_refused() -> None:
    with pytest.raises(ChallengeInvalid, match="nnz = 4, but no row can hold an entry"):
        derive(RowPointers(), 0, 4)
