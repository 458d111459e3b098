"""Arguments of every kind on the GPU: the challenges of tests/signatures, right and wrong, and two of them timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language, usual
from grader.schemas.report import Verdict
from tests.gpu.conftest import Judge, Refilled

SIGNATURES = Catalogue(Path(__file__).parent.parent / "signatures")


def written_in(path: str) -> Language:
    return next(language for language in Language if path.endswith(language.suffix))


def sources(kind: str) -> list[str]:
    reference = SIGNATURES.root / "reference"
    found = reference.glob(f"*/staff/{kind}")
    return sorted(str(path.relative_to(reference)) for path in found)


@pytest.mark.parametrize("path", sources("solution.*"))
def test_right_kernels_of_signatures_are_accepted(judge: Judge, path: str) -> None:
    source = SIGNATURES.root / "reference" / path
    slug = path.partition("/")[0]
    report = judge(source.read_text(), written_in(path), slug=slug, of=SIGNATURES)
    assert report.verdict is Verdict.ACCEPTED, [case for case in report.cases if case.detail] or report


@pytest.mark.parametrize("path", sources("mutants/*"))
def test_a_wrong_kernel_is_refused(judge: Judge, path: str) -> None:
    source = SIGNATURES.root / "reference" / path
    slug = path.partition("/")[0]
    report = judge(source.read_text(), written_in(path), slug=slug, of=SIGNATURES)
    assert report.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR), report
    if slug == "pitched_transpose":
        mismatches = [case.mismatch for case in report.cases if case.mismatch is not None]
        assert {mismatch.kind for mismatch in mismatches} == {"padding"}


@pytest.mark.parametrize("language", usual())
@pytest.mark.parametrize("slug", ["adam", "pitched_transpose"])
def test_padded_results_and_scalars_of_a_workload_are_timed(
    device: Device, boxes: Refilled, slug: str, language: Language
) -> None:
    source = SIGNATURES.root / "reference" / slug / "staff" / f"solution{language.suffix}"
    challenge = SIGNATURES.load(slug)
    request = Request(
        challenge=challenge,
        language=language,
        source=source.read_text(),
        device=device.name,
        seed_key=b"gpu tests" * 4,
        cases=challenge.cases,
        timing=True,
    )
    report = Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report
    assert report.verdict is Verdict.ACCEPTED, report
    (workload,) = report.workloads
    assert workload.time_us is not None
    assert not workload.company, "a round of padded arrays costs what all rounds cost"
    assert set(workload.baselines_us) == {"eager", "compile"}, workload.remarks
