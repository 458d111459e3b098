"""What differs between two texts: what difflib finds, and an end where it would not come to one."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import limits
from grader.diff import Matcher, unified

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "}"]), max_size=40)


@given(LINES, LINES)
def test_diffs_equal_those_of_difflib(old: list[str], new: list[str]) -> None:
    assert Matcher(old, new).get_opcodes() == difflib.SequenceMatcher(None, old, new).get_opcodes()
    assert list(unified(old, new, "x", "y")) == list(difflib.unified_diff(old, new, "x", "y", lineterm=""))


def test_searching_ends_after_a_limit_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each match splits off a single line, so each search covers nearly the whole range."""
    old = ["x", *["a"] * 1990]
    new = ["y", *("a" if place % 2 else f"b{place}" for place in range(198))]
    cost = len(old) + 1990 * new.count("a")
    looks: list[int] = []
    search = difflib.SequenceMatcher.find_longest_match

    def counted(self: Any, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Any:
        looks.append(1)
        return search(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(difflib.SequenceMatcher, "find_longest_match", counted)
    found = Matcher(old, new).get_opcodes()
    assert 0 < len(looks) < 3 * limits.DIFF_STEPS / cost
    assert [(found[0][1], found[0][3]), (found[-1][2], found[-1][4])] == [(0, 0), (len(old), len(new))]
    assert all(old[a:b] == new[c:d] for tag, a, b, c, d in found if tag == "equal")
