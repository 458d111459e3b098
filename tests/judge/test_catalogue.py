"""Every challenge's suite proven on the real judge: solutions and native PyTorch pass, each mutant fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge.loader import find_course
from grader.judge.at_home import judge_at_home
from grader.sandbox.box import BoxMaker
from grader.schemas.report import Language, Verdict

COURSE = find_course()
SLUGS = COURSE.slugs()


def _staff(slug: str) -> Path:
    return COURSE.root / "reference" / slug / "staff"


def _mutants() -> list[Path]:
    return [path for slug in SLUGS for path in sorted((_staff(slug) / "mutants").glob("*.py"))]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_staff_solution_is_accepted(slug: str, boxes: BoxMaker) -> None:
    source = (_staff(slug) / "solution.py").read_text()
    report = judge_at_home(COURSE.load(slug), source, Language.TRITON, boxes, timing=False)
    assert report.verdict is Verdict.ACCEPTED, [it for it in report.cases if it.detail]


@pytest.mark.parametrize("slug", SLUGS)
def test_native_pytorch_is_accepted(slug: str, boxes: BoxMaker) -> None:
    """A kernel as exact as PyTorch's own never fails: the reference itself, copied into the output."""
    challenge = COURSE.load(slug)
    wanted = [arg.name for arg in challenge.manifest.args if arg.kind != "output"]
    call = ", ".join(f"{name}={name}" for name in wanted)
    parameters = ", ".join(arg.name for arg in challenge.manifest.args)
    results = ", ".join(arg.name for arg in challenge.manifest.results)
    source = (
        f"{challenge.reference_source}\n\ndef solve({parameters}):\n    values = reference({call})\n"
        "    values = values if isinstance(values, tuple) else (values,)\n"
        f"    for target, value in zip(({results},), values, strict=True):\n        target.copy_(value)\n"
    )
    report = judge_at_home(challenge, source, Language.TRITON, boxes, timing=False)
    assert report.verdict is Verdict.ACCEPTED, [it for it in report.cases if it.detail]


@pytest.mark.parametrize("path", _mutants(), ids=lambda path: f"{path.parent.parent.parent.name}-{path.stem}")
def test_each_mutant_is_killed(path: Path, boxes: BoxMaker) -> None:
    slug = path.parent.parent.parent.name
    report = judge_at_home(COURSE.load(slug), path.read_text(), Language.TRITON, boxes, timing=False)
    assert report.verdict not in (Verdict.ACCEPTED, Verdict.COMPILE_ERROR, Verdict.INTERNAL_ERROR)


@pytest.mark.parametrize("slug", SLUGS)
def test_there_are_at_least_three_mutants(slug: str) -> None:
    assert sum(path.parent.parent.parent.name == slug for path in _mutants()) >= 3
