"""No text of a table makes a spreadsheet compute anything."""

from __future__ import annotations

import pytest

from grader import spreadsheet


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_that_looks_like_a_formula_is_marked_as_text(first: str) -> None:
    assert spreadsheet.row(["a", f"{first}1+1"]).replace('"', "") == f"a,'{first}1+1\r\n"


def test_numbers_and_nothing_stay_as_they_are() -> None:
    assert spreadsheet.row([-1.5, 2, None, "x", 'a,"b"']) == '-1.5,2,,x,"a,""b"""\r\n'
