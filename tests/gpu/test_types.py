"""Every type of arguments on a card: conversions against the emulated GPU bit for bit, and right and wrong
kernels.

All of it: ``pytest tests/gpu/test_types.py``. The first test needs nvcc and the emulated GPU's engine, built.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.conformance import suite
from grader.authoring.candidates import subjects
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.folder import write_challenge
from grader.challenge.catalogue import Catalogue
from grader.challenge.dtypes import DType
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language, usual
from grader.sandbox.toolkit import cuda_home
from grader.schemas.proof import CandidateRole
from grader.schemas.report import Verdict
from tests.components import need
from tests.gpu.builders import GPU
from tests.gpu.conftest import Judge, Refilled
from tests.judge.test_types import CATALOGUE, FP8, INT8

ENDS = {CandidateRole.SOLUTION: Verdict.ACCEPTED, CandidateRole.MUTANT: Verdict.WRONG_ANSWER}


@pytest.mark.parametrize("name", ["types", "fp8"])
def test_the_emulated_gpu_computes_as_the_card(name: str, tmp_path: Path) -> None:
    need("nvcc")
    need("emulator")
    home = cuda_home()
    assert home is not None
    nvcc = home / "bin" / "nvcc"
    (family,) = (family for family in suite.FAMILIES if family.name == name)
    major, minor = torch.cuda.get_device_capability(GPU)
    program = suite.compile_for_card(
        nvcc, family.source, tmp_path, 10 * major + minor, architecture=family.architecture
    )
    library = suite.compile_for_emulator(nvcc, family.source, tmp_path, architecture=family.architecture)
    there = {kernel.name: kernel for kernel in suite.results_in(suite.run_on_card(program, GPU)[1], name)}
    ran = suite.run_on_emulator(library)
    assert (ran.found, ran.refused) == ([], "")
    here = {kernel.name: kernel for kernel in suite.results_in(ran.output, name)}
    assert here.keys() == there.keys()
    compared = [suite.compare(there[kernel], here[kernel]) for kernel in here]
    assert {each.name: each.detail for each in compared if each.verdict == "differs"} == {}


@pytest.mark.parametrize("language", usual())
@pytest.mark.parametrize("slug", [FP8, INT8])
def test_products_with_scales_are_told_right_from_wrong(judge: Judge, slug: str, language: Language) -> None:
    catalogue = Catalogue(CATALOGUE)
    for subject in subjects(catalogue.load(slug), (language,)):
        if subject.role in ENDS:
            report = judge(subject.source, language, slug=slug, of=catalogue)
            assert report.verdict is ENDS[subject.role], (subject.name, report)


@pytest.mark.parametrize("language", usual())
def test_a_right_kernel_of_every_type_is_accepted_and_timed(
    device: Device, boxes: Refilled, language: Language, tmp_path: Path
) -> None:
    """Timed rounds compare words in the window, see ``CudaOutputChecker``."""
    args = [f"{way}_{dtype.value}:{way}put:{dtype}:2*n" for way in ("in", "out") for dtype in DType]
    (tmp_path / "challenges").mkdir()
    catalogue = Catalogue(tmp_path)
    write_challenge(catalogue, Draft("every", "Every type", "any", args=args, workloads=("n=1000000",)))
    challenge = catalogue.load("every")
    (right,) = (
        subject for subject in subjects(challenge, (language,)) if subject.role is CandidateRole.SOLUTION
    )
    request = Request(
        challenge=challenge,
        language=language,
        source=right.source,
        device=device.name,
        seed_key=b"types" * 8,
        cases=[*challenge.cases, *challenge.hidden_cases],
        timing=True,
    )
    report = Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report
    assert report.verdict is Verdict.ACCEPTED, [case for case in report.cases if case.detail] or report
