"""Two matrix products as courses give them, in types of 8 bits with scales: right and wrong kernels on each
board.

``tests/gpu/test_types.py`` judges the same on a card.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch

from grader.authoring.candidates import subjects
from grader.authoring.trial import Trial
from grader.challenge.catalogue import Catalogue
from grader.challenge.dtypes import DType
from grader.challenge.numbers import decode, stored_type
from grader.judge.device import Device, make_device
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.sandbox.forked_box import ForkedBoxes
from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT
from grader.schemas.proof import CandidateOutcome, CandidateRole

CATALOGUE = Path(__file__).parents[1] / "types"
FP8, INT8 = "scaled_matmul_fp8", "scaled_matmul_int8"
# A part of them: a call takes a second, and a card runs the others.
CASES = ("basic", "one_element", "m_0", "nan", "odd", "range")
EXPECTED = {
    CandidateRole.SOLUTION: CandidateOutcome.ACCEPTED,
    CandidateRole.MUTANT: CandidateOutcome.FAILED,
}


def judged(slug: str, device: Device, boxes: ForkedBoxes, language: Language) -> None:
    challenge = Catalogue(CATALOGUE).load(slug)
    trial = Trial(challenge, device, boxes)
    cases = [case for case in challenge.cases if case.name in CASES]
    found = [subject for subject in subjects(challenge, (language,)) if subject.role in EXPECTED]
    assert {subject.role for subject in found} == EXPECTED.keys()
    for subject in found:
        result = trial.try_cases(subject, cases, every_case=False)
        assert result.ending is EXPECTED[subject.role], (subject.name, result.detail)


@pytest.mark.needs("nvcc", "emulator")
@pytest.mark.parametrize(
    ("slug", "language"), [(FP8, Language.CUDA), (FP8, Language.TRITON), (INT8, Language.CUDA)]
)
def test_the_emulated_gpu_tells_right_from_wrong(slug: str, language: Language, boxes: ForkedBoxes) -> None:
    judged(slug, make_device("emulated", 0), boxes, language)


@pytest.mark.parametrize("dtype", [*(dtype for dtype in DType if dtype.encoded), DType.UINT64])
def test_a_timed_baseline_gets_the_values_of_a_reference(
    dtype: DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))

    trusted = importlib.import_module("trusted")
    words = torch.arange(256, dtype=torch.int16).to(torch.uint8)
    words = words.repeat(dtype.itemsize).view(stored_type(dtype))
    in_box = words.view(getattr(torch, dtype.given))
    torch.testing.assert_close(
        trusted.decoded(in_box, dtype.value), decode(words, dtype), rtol=0, atol=0, equal_nan=True
    )


@pytest.mark.parametrize("slug", [FP8, INT8])
def test_the_interpreter_tells_right_from_wrong(slug: str, boxes: ForkedBoxes) -> None:
    judged(slug, HostDevice(), boxes, Language.TRITON)
