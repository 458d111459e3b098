"""The challenges themselves: suites that cover what they must, references that hold on every case."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.draw import draw_inputs
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge, find_course

COURSE = find_course()
SIZES = {"basic", "empty", "one_element", "odd", "prime", "block_edge", "large"}
FLOATS = {"zeros", "ones", "huge", "tiny", "denormal", "nan", "pos_inf", "neg_inf"}
WANTED = {
    "vector_add": SIZES | FLOATS,
    "matmul": SIZES | FLOATS | {"cancellation"},
    "softmax": SIZES | FLOATS | {"ties"},
    "histogram": SIZES | {"zeros", "ones", "ties", "range"},
}
CASES = [
    (slug, case) for slug in WANTED for case in (*COURSE.load(slug).cases, *COURSE.load(slug).hidden_cases)
]
EACH_CASE = pytest.mark.parametrize(
    ("slug", "case"), CASES, ids=lambda it: it.name if isinstance(it, Case) else it
)
SLUGS = pytest.mark.parametrize("slug", WANTED)
# In Triton's interpreter a program takes about a millisecond and a suite shall take a second or two.
MOST_ELEMENTS = 500_000
# What an H200 was measured to copy (bytes/s) and compute in float32 (operations/s): the roofline's two sides.
COPY, FLOPS = 4.2e12, 51e12
# A workload counts for the ranking where its roofline is at least this (seconds).
RANKED_FROM = 400e-6


@SLUGS
def test_the_suite_covers_the_categories(slug: str) -> None:
    assert WANTED[slug] <= {case.category.value for case in COURSE.load(slug).cases}


@SLUGS
def test_every_size_is_0_in_some_case(slug: str) -> None:
    challenge = COURSE.load(slug)
    empty = [case for case in challenge.cases if case.category is Category.EMPTY]
    for size in challenge.manifest.sizes:
        alone = [
            case for case in empty if [name for name, value in case.sizes.items() if value == 0] == [size]
        ]
        assert alone, f"no case has {size} = 0 alone"


@SLUGS
def test_block_edges_lie_on_both_sides(slug: str) -> None:
    edges = [case for case in COURSE.load(slug).cases if case.category is Category.BLOCK_EDGE]
    values = {value for case in edges for value in case.sizes.values()}
    for block in (32, 128, 1024):
        assert block - 1 in values
        assert block + 1 in values


@SLUGS
def test_the_suite_stays_small(slug: str) -> None:
    challenge = COURSE.load(slug)
    manifest = challenge.manifest
    shapes = [manifest.shape(arg, case.sizes) for case in challenge.cases for arg in manifest.buffers]
    assert sum(math.prod(shape) for shape in shapes) <= MOST_ELEMENTS


@SLUGS
def test_prime_and_odd_sizes_are_what_they_say(slug: str) -> None:
    for case in COURSE.load(slug).cases:
        if case.category is Category.PRIME:
            assert all(all(value % divisor for divisor in range(2, value)) for value in case.sizes.values())
        if case.category is Category.ODD:
            assert all(value % 2 for value in case.sizes.values())


@SLUGS
def test_there_are_ranked_workloads_and_one_for_the_interpreter(slug: str) -> None:
    manifest = COURSE.load(slug).manifest
    assert any(workload.on == "cpu" for workload in manifest.workloads)
    ranked = 0
    for workload in manifest.workloads:
        seconds = (
            parse(manifest.cost.bytes)(workload.sizes) / COPY,
            parse(manifest.cost.flops)(workload.sizes) / FLOPS,
        )
        ranked += max(seconds) >= RANKED_FROM
    assert ranked >= 2


@SLUGS
def test_the_spec_says_what_a_student_needs(slug: str) -> None:
    challenge = COURSE.load(slug)
    for part in ("## Example", "## Contract", "## Speed", "## Hints", "<details>"):
        assert part in challenge.spec
    assert challenge.spec.count("<details>") == challenge.spec.count("</details>")
    for arg in challenge.manifest.args:
        assert any(form in challenge.spec for form in (f"`{arg.name}`", f"{arg.name} = ", f"{arg.name}["))


@SLUGS
def test_every_mutant_names_its_mistake(slug: str) -> None:
    mutants = sorted((COURSE.root / "reference" / slug / "staff" / "mutants").glob("*.py"))
    assert len(mutants) >= 3
    for path in mutants:
        assert (ast.get_docstring(ast.parse(path.read_text())) or "").startswith("Mistake: "), path.name


def _answers(challenge: Challenge, case: Case, dtype: torch.dtype | None) -> tuple[torch.Tensor, Any]:
    inputs = draw_inputs(challenge.manifest, case, 11)
    if dtype is not None:
        inputs = {name: it.to(dtype) if it.is_floating_point() else it for name, it in inputs.items()}
    scale = challenge.reference.magnitude
    return (
        challenge.reference.compute(**inputs, **case.sizes),
        scale(**inputs, **case.sizes) if scale is not None else None,
    )


@EACH_CASE
def test_oracle_and_native_reference_agree(slug: str, case: Case) -> None:
    """In shape, finiteness and infinities' signs; and native PyTorch passes with half the tolerance to spare."""
    challenge = COURSE.load(slug)
    (out,) = challenge.manifest.results
    native, _ = _answers(challenge, case, None)
    exact, magnitude = _answers(challenge, case, torch.float64)
    assert tuple(native.shape) == challenge.manifest.shape(out, case.sizes)
    assert native.dtype is getattr(torch, out.dtype.value)
    if not out.dtype.floating:
        assert torch.equal(native, exact)
        return
    oracle = exact.to(native.dtype)
    finite = oracle.isfinite()
    assert torch.equal(native.isnan(), oracle.isnan())
    assert torch.equal(native.isfinite(), finite)
    assert torch.equal(native[native.isinf()], oracle[oracle.isinf()])
    scale = exact.abs() if magnitude is None else magnitude
    allowed = challenge.manifest.tolerance.atol + challenge.manifest.tolerance.rtol * scale
    assert ((native.double() - oracle.double()).abs() <= allowed / 2)[finite].all()


@SLUGS
def test_special_values_reach_the_output(slug: str) -> None:
    """A NaN case whose oracle holds no NaN would prove nothing."""
    challenge = COURSE.load(slug)
    for case in challenge.cases:
        answer = _answers(challenge, case, torch.float64)[0]
        if case.category is Category.NAN:
            assert answer.isnan().any(), case.name
            assert not answer.isnan().all() or case.name == "nan_times_zero", case.name


def test_zeros_are_written_where_a_sum_is_empty() -> None:
    for slug, name in (("matmul", "k_0"), ("histogram", "no_values")):
        challenge = COURSE.load(slug)
        answer = _answers(challenge, challenge.case(name), None)[0]
        assert answer.numel() > 0
        assert not answer.any()


@SLUGS
def test_files_that_a_challenge_ships(slug: str) -> None:
    staff = COURSE.root / "reference" / slug / "staff"
    shipped = [COURSE.root / "challenges" / slug / name for name in ("spec.md", "starter.cu", "starter.py")]
    shipped += [staff / name for name in ("solution.cu", "solution.py", "hidden_cases.py")]
    assert [path for path in shipped if not Path(path).is_file()] == []
