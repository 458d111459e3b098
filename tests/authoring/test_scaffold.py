"""What `challenge new` writes without asking the reference: sizes, cases, the contract and the spec."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from grader.authoring.costs import H200, UNCLEAR
from grader.authoring.scaffold.answers import Answers
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.signature_line import read_constraints, read_signature
from grader.authoring.scaffold.suite import LINE, Planned, large_case, public_cases
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
    monkeypatch.setattr(asked, "_is_answered", lambda case, chosen: chosen and len(case.inputs) == 1)
    (huge,) = asked.of([case for case in public_cases(manifest) if case.name == "huge"])
    assert list(huge.inputs) == ["x"]
    assert asked.dropped == []


def test_a_case_of_many_inputs_keeps_to_the_length_of_a_line() -> None:
    inputs = {f"input_{number}": "Uniform(-1.6e+38, 1.6e+38)" for number in range(5)}
    inputs["drawn"] = f"drawn({', '.join(f'parameter_{number}={number}' for number in range(9))})"
    line = Planned("huge", "huge", dict.fromkeys("abcd", 3), inputs).line()
    assert max(map(len, line.splitlines())) <= LINE
    ast.parse(line.strip().removesuffix(","))


def test_special_values_are_strewn_over_numbers_of_the_range() -> None:
    made = Draft("fresh", "Fresh", "any", args=read_signature("f(v: inout f32[n] in 0..2)")).manifest()
    inputs = {case.name: case.inputs["v"] for case in public_cases(made) if case.inputs}
    assert inputs["nan"] == "Sprinkle(NAN, base=Uniform(0.0, 2.0))"
    assert inputs["denormal"] == "Uniform(0, 1e-39)"


def test_a_size_of_results_alone_stays_small_and_keeps_its_bound() -> None:
    said = "topk(x: f32[rows, cols], k: size <= cols) -> values: f32[rows, k]"
    draft = Draft("topk", "Topk", "any", args=read_signature(said), constraints=read_constraints(said))
    manifest = draft.manifest()
    assert {workload.sizes["k"] for workload in manifest.workloads} == {64}
    assert all(case.sizes["k"] <= case.sizes["cols"] for case in public_cases(manifest))
    assert "| `k <= cols` | always" in stated_spec(manifest, "torch.topk(x, k)", "", [])
    large = large_case(manifest)
    assert large is not None
    assert large.line() == '        case("almost_timed", "large", rows=32767, cols=16383, k=64, on="gpu"),'


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        (lambda x: x.cumsum(1), "rows"),
        (lambda x: x.cumsum(0), "cols"),
        (lambda x: x - x.sum(), ""),
    ],
)
def test_pieces_are_proposed_if_the_reference_allows_them(
    reference: Callable[[Any], Any], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of the first are independent; the last needs the whole array."""
    args = ("x:input:float32:rows,cols", "out:output:float32:rows,cols")
    manifest = Draft("fresh", "Fresh", "any", args=args).manifest()
    asked = Answers("fresh", manifest)
    monkeypatch.setattr(asked, "_is_answered", lambda case, chosen: True)
    monkeypatch.setattr(asked, "_call", lambda given: (reference(given["x"].double()),))
    asked.of(public_cases(manifest))
    assert asked.divided() == found
