"""No text of a table makes a spreadsheet compute anything."""

from __future__ import annotations

import csv
import io

import pytest
from pydantic import BaseModel

from grader import spreadsheet


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_that_looks_like_a_formula_is_marked_as_text(first: str) -> None:
    assert spreadsheet.row(["a", f"{first}1+1"]).replace('"', "") == f"a,'{first}1+1\r\n"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Ada;=1+1", "Ada;'=1+1"),
        ('Ada;"=1+1"', 'Ada;"\'=1+1"'),
        ("B;+1;-2;@x", "B;'+1;'-2;'@x"),
        ("Ada\t=1", "Ada\t'=1"),
        ("Ada\n=1", "Ada\n'=1"),
        ("Ada; see 1+1=2; a-b", "Ada; see 1+1=2; a-b"),
    ],
)
def test_a_formula_after_another_separator_is_marked_as_text(text: str, safe: str) -> None:
    line = spreadsheet.row(["a", text])
    assert next(csv.reader(io.StringIO(line, newline=""))) == ["a", safe]
    for separator in ";\t":
        for cells in csv.reader(io.StringIO(line, newline=""), delimiter=separator):
            assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_points_are_rounded_and_a_byte_order_mark_is_optional() -> None:
    class Earned(BaseModel):
        name: str
        points: float
        speedup: float

    rows = [Earned(name="ada", points=100 / 3, speedup=100 / 3)]
    told = "name,points,speedup\r\nada,33.33,33.333333333333336\r\n"
    assert "".join(spreadsheet.table(Earned, rows, points=("points",))) == told
    assert "".join(spreadsheet.table(Earned, rows, points=("points",), bom=True)) == "\ufeff" + told


def test_numbers_and_empty_cells_stay_unchanged() -> None:
    assert spreadsheet.row([-1.5, 2, None, "x", 'a,"b"']) == '-1.5,2,,x,"a,""b"""\r\n'
