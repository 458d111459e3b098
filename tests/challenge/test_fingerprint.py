"""Which changes make a new version."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.challenge.fingerprint import Content, agree, changes, content, digest, merged
from tests.challenge.conftest import CASES, MANIFEST, REFERENCE, Write

HIDDEN = """
from grader.challenge.cases import case

def cases():
    return [case("secret", "prime", rows=7, cols=3)]
"""


def told(before: Content, after: Content) -> list[tuple[str, str, str]]:
    return [(change.part, change.name, change.kind) for change in changes(before, after)]


def swap(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


JUDGED = [
    ({"manifest": swap(MANIFEST, "rtol = 1e-6", "rtol = 1e-5")}, ("tolerance", "", "changed")),
    ({"manifest": swap(MANIFEST, "atol = 1e-9\nrtol = 1e-6", "")}, ("tolerance", "", "removed")),
    ({"manifest": swap(MANIFEST, "rows = 400, cols", "rows = 401, cols")}, ("workloads", "big", "changed")),
    ({"manifest": swap(MANIFEST, 'name = "big"', 'name = "bigger"')}, ("workloads", "big", "removed")),
    ({"manifest": swap(MANIFEST, "case_seconds = 5", "case_seconds = 6")}, ("limits", "", "changed")),
    ({"manifest": swap(MANIFEST, "allow = []", 'allow = ["cublas"]')}, ("allow", "", "added")),
    ({"manifest": swap(MANIFEST, 'flops = "rows"', 'flops = "cols"')}, ("cost", "", "changed")),
    ({"manifest": swap(MANIFEST, "value = 2.0", "value = 3.0")}, ("args", "", "changed")),
    ({"manifest": swap(MANIFEST, '[compare.out]\nfirst = "count"', "")}, ("compare", "out", "removed")),
    ({"cases": swap(CASES, "Constant(1)", "Constant(2)")}, ("cases", "ones", "changed")),
    (
        {"cases": swap(CASES, '"ones", "ones", rows=2', '"ones", "ones", rows=3')},
        ("cases", "ones", "changed"),
    ),
    ({"cases": swap(CASES, '"basic", "basic"', '"plain", "basic"')}, ("cases", "plain", "added")),
    ({"reference": swap(REFERENCE, "* alpha", "* alpha * 1")}, ("reference", "", "changed")),
    ({"hidden": swap(HIDDEN, "rows=7", "rows=11")}, ("hidden_cases", "secret", "changed")),
]
SHOWN = [
    {"manifest": swap(MANIFEST, '"Scaled rows"', '"Rows, scaled"')},
    {"manifest": swap(MANIFEST, "order = 3", 'order = 4\nprerequisites = ["other"]')},
    {"manifest": swap(MANIFEST, 'difficulty = "easy"', 'difficulty = "hard"')},
    {"manifest": swap(MANIFEST, 'tags = ["one"]', "tags = []")},
    {"manifest": swap(MANIFEST, '["cuda", "triton"]', '["cuda"]')},
    {"manifest": swap(MANIFEST, "speedup = 0.5", "speedup = 0.6")},
    {"manifest": swap(MANIFEST, "version = 1", "version = 2")},
    {"cases": swap(CASES, '"ones", "ones"', '"ones", "basic", note="all the same"')},
    {"cases": swap(CASES, "Constant(1)", "Constant(1.0)")},
    {"cases": f"# Why these\n{CASES}"},
    {"reference": swap(REFERENCE, "    return", "    # In float64.\n\n    return")},
    {"reference": f"{REFERENCE}   # the end\n"},
]


@pytest.mark.parametrize(("files", "change"), JUDGED)
def test_changes_that_affect_judging_change_the_fingerprint(
    write: Write, files: dict[str, str], change: tuple[str, str, str]
) -> None:
    before = content(write(hidden=HIDDEN))
    after = content(write(**({"hidden": HIDDEN} | files)))
    assert change in told(before, after)
    assert not agree(before, after)
    assert digest(before) != digest(after)
    assert told(after, before), "in the other direction, too"


@pytest.mark.parametrize("files", SHOWN)
def test_changes_of_shown_text_keep_the_fingerprint(write: Write, files: dict[str, str]) -> None:
    before, after = content(write()), content(write(**files))
    assert told(before, after) == []
    assert digest(before) == digest(after)


def test_a_change_holds_both_values(write: Write) -> None:
    before = content(write())
    after = content(write(manifest=swap(MANIFEST, "case_seconds = 5", "case_seconds = 6")))
    (change,) = changes(before, after)
    assert (change.before["case_seconds"], change.after["case_seconds"]) == (5, 6)


def test_nan_infinities_and_zeros_are_distinguished(write: Write) -> None:
    def parts(value: str) -> Content:
        return content(write(cases=swap(CASES, "Constant(1)", f'Constant(float("{value}"))')))

    found = {digest(parts(value)) for value in ("nan", "inf", "-inf", "0", "-0.0", "0.1")}
    assert len(found) == 6


def test_a_custom_recipe_counts_with_its_source(write: Write) -> None:
    own = (
        "from dataclasses import dataclass\nfrom grader.challenge.cases import Sprinkle, case\n"
        "@dataclass(frozen=True)\nclass Mine:\n    def draw(self, shape, dtype, generator):\n"
        '        return 1\n    def words(self):\n        return "mine"\n'
        'def cases():\n    return [case("a", "basic", rows=1, cols=1, inputs={"x": Sprinkle(1, base=Mine())})]\n'
    )
    before, after = content(write(cases=own)), content(write(cases=swap(own, "return 1\n", "return 2\n")))
    assert told(before, after) == [("recipes", "", "changed")]


def test_hidden_cases_are_compared_only_if_both_copies_have_them(write: Write, tmp_path: Path) -> None:
    whole = content(write(hidden=HIDDEN))
    (tmp_path / "reference" / "rows" / "staff" / "hidden_cases.py").unlink()
    (tmp_path / "reference" / "rows" / "staff").rmdir()
    challenge = find_catalogue(tmp_path).load("rows")
    at_a_students = content(challenge)
    assert "hidden_cases" not in at_a_students
    assert agree(whole, at_a_students)
    assert agree(at_a_students, whole)
    assert merged(at_a_students, whole) == whole


def test_removing_the_last_hidden_case_is_a_change(write: Write) -> None:
    before, after = content(write(hidden=HIDDEN)), content(write(hidden=HIDDEN))
    after["hidden_cases"] = {}
    assert told(before, after) == [("hidden_cases", "secret", "removed")]


def test_a_version_without_stored_content_agrees_with_anything(write: Write) -> None:
    assert agree({}, content(write()))


def test_each_of_our_challenges_has_a_fingerprint() -> None:
    catalogue = find_catalogue()
    for slug in catalogue.slugs():
        parts = content(catalogue.load(slug))
        assert {"args", "workloads", "cases", "hidden_cases", "reference"} <= set(parts), slug
        assert digest(parts) == digest(content(catalogue.load(slug))), slug
