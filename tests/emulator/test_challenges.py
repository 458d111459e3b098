"""On the emulated GPU, staff's solutions and the hostile suite's honest controls are right in every public case, and no
mutant is."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge.course import find_course
from tests.components import need
from tests.emulator.judging import compile_source, judge

COURSE = find_course()
# What each run tries: shared memory with atomics, blocks that wait for each other, and tensor cores.
SAMPLE = {"histogram", "inclusive_scan", "matmul_fp16"}
SOLUTIONS = [
    slug for slug in COURSE.slugs() if (COURSE.root / "reference" / slug / "staff" / "solution.cu").exists()
]
TESTS = COURSE.root / "tests"
CONTROLS = sorted((TESTS / "hostile" / "controls").glob("*.cu"))
MUTANTS = sorted((COURSE.root / "reference").glob("*/staff/mutants/*.cu"))


@pytest.fixture(scope="module", autouse=True)
def _compiler() -> None:
    need("nvcc")


@pytest.mark.parametrize(
    "slug", [pytest.param(it, marks=[] if it in SAMPLE else [pytest.mark.matrix]) for it in SOLUTIONS]
)
def test_a_solution_is_right(slug: str, tmp_path: Path) -> None:
    challenge = COURSE.load(slug)
    source = COURSE.root / "reference" / slug / "staff" / "solution.cu"
    assert judge(challenge, compile_source(challenge, source, tmp_path)).wrong == {}


@pytest.mark.matrix
@pytest.mark.parametrize("source", CONTROLS, ids=[it.stem for it in CONTROLS])
def test_an_honest_control_is_right(source: Path, tmp_path: Path) -> None:
    """They use graphs, streams, events, pools and tables of functions."""
    challenge = find_course(TESTS / "course").load("twice")
    assert judge(challenge, compile_source(challenge, source, tmp_path)).wrong == {}


@pytest.mark.matrix
@pytest.mark.parametrize("source", MUTANTS, ids=[f"{it.parts[-4]}-{it.stem}" for it in MUTANTS])
def test_a_mutant_is_caught(source: Path, tmp_path: Path) -> None:
    challenge = COURSE.load(source.parts[-4])
    assert judge(challenge, compile_source(challenge, source, tmp_path)).wrong
