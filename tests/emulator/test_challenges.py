"""The judge, with boxes and the emulated GPU, passes staff's solutions and honest controls in every case, and
no CUDA mutant. None of their CUDA files gives a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.authoring.candidates import Candidate, shows_large_alone
from grader.authoring.trial import Trial
from grader.challenge.catalogue import find_catalogue
from grader.device_kinds import EMULATED
from grader.judge.device import make_device
from grader.languages import Language
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.proof import CandidateOutcome, CandidateRole
from tests.components import need
from tests.emulator.judging import compile_source, judge

CATALOGUE = find_catalogue()
TESTS = CATALOGUE.root / "tests"
CONTROLS = sorted((TESTS / "hostile" / "controls").glob("*.cu"))
# Tried in each run: shared memory with atomics, blocks that wait for each other, and tensor cores.
SAMPLE = {
    ("histogram", "solution.cu"),
    ("inclusive_scan", "solution.cu"),
    ("matmul_fp16", "solution.cu"),
    ("matmul_fp16", "solution.py"),
}


def candidates() -> list[Any]:
    """Challenge -> paths of solutions in both languages and of CUDA mutants; other boards prove Triton's mutants."""
    found = []
    for slug in CATALOGUE.slugs():
        staff = CATALOGUE.root / "reference" / slug / "staff"
        mutants = [
            source
            for source in sorted(staff.glob("mutants/*.cu"))
            if not shows_large_alone(source.read_text())
        ]
        for path in [*sorted(staff.glob("solution.*")), *mutants]:
            marks = [] if (slug, path.name) in SAMPLE else [pytest.mark.in_turn]
            found.append(pytest.param(slug, path, id=f"{slug}-{path.name}", marks=marks))
    return found


@pytest.fixture(scope="module")
def trial(forked_boxes: ForkedBoxes) -> Callable[[str], Trial]:
    """A process keeps its device and fork servers, and draws a challenge's questions once."""
    need("emulator")
    need("nvcc")
    device, trials = make_device(EMULATED), dict[str, Trial]()

    def of(slug: str) -> Trial:
        if slug not in trials:
            trials.clear()
            trials[slug] = Trial(CATALOGUE.load(slug), device, forked_boxes)
        return trials[slug]

    return of


@pytest.mark.parametrize(("slug", "path"), candidates())
def test_solutions_pass_and_mutants_fail(slug: str, path: Path, trial: Callable[[str], Trial]) -> None:
    role = CandidateRole.SOLUTION if path.stem == "solution" else CandidateRole.MUTANT
    language = Language.of_file(path.name)
    assert language is not None
    source = path.read_text()
    found = trial(slug).try_out(Candidate(role, path.name, language, source), every_case=False)
    wanted = CandidateOutcome.FAILED if role.wrong else CandidateOutcome.ACCEPTED
    assert found.ending is wanted, found.detail
    assert not language.compiled or trial(slug).compiled[source].log == ""


@pytest.mark.matrix
@pytest.mark.parametrize("source", CONTROLS, ids=[source.stem for source in CONTROLS])
def test_honest_controls_pass(source: Path, tmp_path: Path) -> None:
    """They use graphs, streams, events, pools and tables of functions."""
    need("nvcc")
    challenge = find_catalogue(TESTS / "catalogue").load("twice")
    assert judge(challenge, compile_source(challenge, source, tmp_path)).wrong == {}
