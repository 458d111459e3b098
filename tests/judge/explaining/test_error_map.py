"""The map of a wrong result: codes, tiles, and the numbers around the first wrong element."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.judge.explaining.records.error_map import error_map
from grader.judge.explaining.wrong import Wrong
from grader.schemas.error_map import Cell, ErrorMap

MANIFEST = Catalogue(Path(__file__).parents[3]).load("transpose").manifest
NAN = float("nan")


def mapped(
    shape: tuple[int, ...], got: torch.Tensor, want: torch.Tensor, poisoned: torch.Tensor | None = None
) -> ErrorMap:
    wrong = (got != want) | got.isnan()
    result = Wrong(
        MANIFEST.results[0],
        shape,
        got,
        want,
        wrong,
        poisoned,
        None,
        MANIFEST.allowance(MANIFEST.results[0], {}, {}),
    )
    found = error_map(result, {"x": want.reshape(shape) * 2, "weights": torch.ones(3)})
    assert found is not None
    return found


def test_each_element_of_a_small_matrix_has_a_cell_by_its_decade() -> None:
    want, got = torch.zeros(4 * 20), torch.zeros(4 * 20)
    got[21], got[22], got[79], got[78] = 0.5, 300.0, NAN, 7.0
    poisoned = torch.zeros(80, dtype=torch.bool)
    poisoned[78] = True
    found = mapped((4, 20), got, want, poisoned)
    assert (found.width, found.tile, found.rows, found.columns, found.lowest) == (20, (1, 1), 4, 20, -1)
    codes = found.codes()
    wrong = {place: code for place, code in enumerate(codes) if code != Cell.RIGHT}
    assert wrong == {21: 1, 22: 4, 78: Cell.NEVER_WRITTEN, 79: Cell.NOT_FINITE}


def test_large_integers_that_are_equal_as_doubles_have_an_error() -> None:
    want = torch.full((32,), 2**60, dtype=torch.int64)
    got = want.clone()
    got[5] += 1
    found = mapped((32,), got, want)
    assert (found.codes()[5], found.lowest) == (1, 0)


def test_a_vector_is_folded_with_a_partial_last_line() -> None:
    got = torch.zeros(300)
    got[299] = 1.0
    found = mapped((300,), got, torch.zeros(300))
    assert (found.width, found.rows, found.columns) == (128, 3, 128)
    assert found.codes()[299] == 1
    assert set(found.codes()[300:]) == {Cell.OUTSIDE}


def test_short_rows_share_a_line() -> None:
    got = torch.ones(1000 * 3)
    assert mapped((1000, 3), got, torch.zeros(3000)).width == 126


def test_a_large_result_is_merged_into_tiles_with_the_worst_code() -> None:
    want = torch.zeros(1024 * 1024)
    got = want.clone()
    got[5 * 1024 + 6], got[5 * 1024 + 7] = 1.0, 1000.0
    found = mapped((1024, 1024), got, want)
    assert found.tile == (4, 4)
    assert found.rows * found.columns == limits.ERROR_MAP_CELLS
    assert [(place, code) for place, code in enumerate(found.codes()) if code] == [(256 + 1, 4)]


def test_a_map_of_noise_fits_a_report() -> None:
    noise = torch.rand(1 << 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 24 - 12
    found = mapped((256, 256), 10.0**noise, torch.zeros(1 << 16, dtype=torch.float64))
    assert len(found.cells) <= limits.ERROR_MAP_CHARS


def test_the_window_shows_results_and_inputs_of_the_same_shape() -> None:
    want = torch.arange(32 * 32, dtype=torch.float32)
    got = want.clone()
    got[31 * 32 + 31] = -1.0
    window = mapped((32, 32), got, want).window
    assert window.first == [[24 + row, 24] for row in range(8)]
    assert list(window.values) == ["got", "expected", "x"]
    assert window.values["got"][7][7] == "-1"
    assert window.values["expected"][7][7] == "1023"
    assert window.values["x"][7][7] == "2046"


def test_a_coarse_map_keeps_the_worst_code() -> None:
    got = torch.zeros(64 * 64)
    got[65] = 5.0
    coarse = mapped((64, 64), got, torch.zeros(64 * 64)).coarse(16, 16)
    assert len(coarse) == 16
    assert coarse[0][0] == 1
    assert sum(map(sum, coarse)) == 1


@pytest.mark.parametrize("cells", ["AAAA", ErrorMap.packed(b"\1" * 3), ErrorMap.packed(b"\1" * 1_000_000)])
def test_cells_that_do_not_fit_the_map_are_refused(cells: str) -> None:
    got = torch.ones(4 * 20)
    found = mapped((4, 20), got, torch.zeros(80)).model_copy(update={"cells": cells})
    with pytest.raises(ValueError, match="map"):
        found.codes()
