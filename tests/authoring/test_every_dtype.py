"""Each dtype from `challenge new` to a verdict of the emulated GPU: a new dtype that lacks a fact fails here."""

from __future__ import annotations

import re

import pytest

from grader.authoring.candidates import Candidate, subjects
from grader.authoring.trial import Trial
from grader.challenge.dtypes import DType
from grader.challenge.signature import declaration
from grader.judge.device import make_device
from grader.languages import Language
from grader.schemas.proof import CandidateOutcome, CandidateRole
from tests.authoring.conftest import Write


@pytest.mark.needs("nvcc", "emulator")
@pytest.mark.parametrize("dtype", list(DType))
def test_a_new_challenge_accepts_a_right_kernel_and_refuses_a_wrong_one(dtype: DType, write: Write) -> None:
    # Of packed types the last dimension is even.
    n = "2*n" if dtype.packed else "n"
    made = write(f"x:input:{dtype}:{n}", f"out:output:{dtype}:{n}")
    assert f"const {dtype.c_type}* x, {dtype.c_type}* out" in declaration(
        made.challenge.manifest, Language.CUDA
    )
    (solution,) = [
        candidate
        for candidate in subjects(made.challenge, (Language.CUDA,))
        if candidate.role is CandidateRole.SOLUTION
    ]
    right = without_cstdint(solution.source, dtype)
    wrong = right.replace("if (i >= total) return;", "if (i >= total - 1) return;")
    assert wrong != right
    trial = Trial(made.challenge, make_device("emulated", 0), made.boxes)
    tried = [
        trial.try_out(Candidate(CandidateRole.MUTANT, "kernel", Language.CUDA, source), every_case=False)
        for source in (right, wrong)
    ]
    endings = [result.ending for result in tried]
    assert endings == [CandidateOutcome.ACCEPTED, CandidateOutcome.FAILED], [
        result.detail for result in tried
    ]


def without_cstdint(source: str, dtype: DType) -> str:
    """The same source without <cstdint>: aliases of built-in types replace its types."""
    source = source.replace("#include <cstdint>\n", "").replace("#include <cuda_runtime.h>\n", "")
    source = re.sub(r"\bint64_t\b", "whole", re.sub(rf"\b{dtype.c_type}\b", "element", source))
    head, marker, rest = source.partition("constexpr int kThreads")
    return (
        f"{head}using element = {dtype.c_built_in};\nusing whole = {DType.INT64.c_built_in};\n{marker}{rest}"
    )
