"""A catalogue with one new challenge, forked boxes, and a whole proof in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.authoring.candidates import Candidate, subjects
from grader.authoring.scaffold.draft import DEFAULT_ARGS, Draft
from grader.authoring.scaffold.folder import write_challenge
from grader.authoring.trial import Trial
from grader.authoring.verdicts import suite_checks
from grader.authoring.worker_pool import examine
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.proof import CandidateResult, Check

Write = Callable[..., "Made"]


@pytest.fixture(scope="session")
def boxes(forked_boxes: ForkedBoxes) -> ForkedBoxes:
    return forked_boxes


@dataclass
class Made:
    """A challenge in its own catalogue, for tests to spoil and reload."""

    catalogue: Catalogue
    slug: str
    boxes: ForkedBoxes

    @property
    def challenge(self) -> Challenge:
        return self.catalogue.load(self.slug)

    @property
    def staff(self) -> Path:
        return self.catalogue.root / "reference" / self.slug / "staff"

    def edit(self, name: str, old: str, new: str) -> None:
        path = next(
            path
            for part in ("challenges", "reference")
            if (path := self.catalogue.root / part / self.slug / name).exists()
        )
        text = path.read_text()
        assert old in text, f"{name} does not hold {old!r}"
        path.write_text(text.replace(old, new))

    def examined(self) -> dict[str, Check]:
        return {check.name: check for check in examine(self.challenge, HostDevice())}

    def tried(
        self, wanted: Callable[[Candidate], bool] = lambda _: True, *, every_case: bool = False
    ) -> list[CandidateResult]:
        """Only Triton: nothing here runs CUDA, and nvcc takes seconds."""
        bench = Trial(self.challenge, HostDevice(), self.boxes)
        made = [candidate for candidate in subjects(self.challenge, (Language.TRITON,)) if wanted(candidate)]
        return [bench.try_out(candidate, every_case=every_case) for candidate in made]

    def proven(self) -> dict[str, Check]:
        return self.examined() | {check.name: check for check in suite_checks(self.tried(), matrix=False)}


@pytest.fixture
def write(tmp_path: Path, boxes: ForkedBoxes) -> Write:
    def write(*args: str, slug: str = "fresh", workloads: tuple[str, ...] = ()) -> Made:
        (tmp_path / "challenges").mkdir(exist_ok=True)
        catalogue = Catalogue(tmp_path)
        write_challenge(
            catalogue, Draft(slug, "Fresh", "any", args=args or DEFAULT_ARGS, workloads=workloads)
        )
        return Made(catalogue, slug, boxes)

    return write
