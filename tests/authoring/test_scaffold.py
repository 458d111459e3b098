"""What `challenge new` writes without asking the reference: sizes, cases, the contract and the spec."""

from __future__ import annotations

import pytest

from grader.authoring.costs import H200, UNCLEAR
from grader.authoring.scaffold.answers import Answers
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.suite import public_cases
from grader.authoring.scaffold.texts import contract_rows, stated_spec
from grader.judge.roofline import roofline_seconds
from grader.limits import RANKED_ROOFLINE_US


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32"])
def test_no_generated_workload_is_near_the_limit_of_ranking(dtype: str) -> None:
    args = (f"a:input:{dtype}:m,k", f"b:input:{dtype}:k,n", "out:output:float32:m,n")
    manifest = Draft("product", "Product", "any", args=args, flops="2 * m * n * k").manifest()
    times = [roofline_seconds(manifest, work, H200) or 0.0 for work in manifest.workloads if work.on == "gpu"]
    assert all(abs(seconds * 1e6 / RANKED_ROOFLINE_US - 1) >= UNCLEAR for seconds in times)


def test_an_empty_sum_is_written() -> None:
    args = ("a:input:float32:m,k", "b:input:float32:k,n", "out:output:float32:m,n")
    manifest = Draft("product", "Product", "any", args=args).manifest()
    cases = {case.name: case for case in public_cases(manifest)}
    assert cases["m_0"].note.startswith("Nothing may be read or written")
    assert cases["k_0"].note.startswith("There is nothing to read, but")
    rows = {when: then for when, then, _ in contract_rows(cases, manifest)}
    assert rows["`m = 0`"] == "empty arrays are neither read nor written"
    assert "is written" in rows["`k = 0`"]


def test_a_new_spec_says_one_statement_a_line() -> None:
    manifest = Draft("fresh", "Fresh", "any").manifest()
    assert "\n```\ny = x + 1\nout = y * y\n```\n" in stated_spec(manifest, "y = x + 1; y * y", "", [])


def test_one_input_alone_is_huge_if_all_together_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("x:input:float32:n", "y:input:float32:n", "out:output:float32:n")
    manifest = Draft("fresh", "Fresh", "any", args=args).manifest()
    asked = Answers("fresh", manifest)
    monkeypatch.setattr(asked, "_is_answered", lambda case: len(case.inputs) == 1)
    (huge,) = asked.of([case for case in public_cases(manifest) if case.name == "huge"])
    assert list(huge.inputs) == ["x"]
    assert asked.dropped == []
