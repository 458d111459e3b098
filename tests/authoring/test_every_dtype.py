"""Each dtype from `challenge new` to verdicts of the emulated GPU and the interpreter: a new dtype that lacks
a fact fails here. One challenge has them all, because a compiler takes seconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from grader.authoring.candidates import Candidate, subjects
from grader.authoring.generic import generics
from grader.authoring.trial import Trial
from grader.challenge.dtypes import DType
from grader.challenge.signature import declaration
from grader.judge.device import make_device
from grader.judge.host_device import HostDevice
from grader.languages import Language
from grader.schemas.proof import CandidateOutcome, CandidateResult, CandidateRole
from tests.authoring.conftest import Made, Write

# Of packed types the last dimension is even.
SHAPE = "2*n"
SPECIAL = ("basic", "n_0", "nan", "pos_inf", "huge", "denormal", "extremes")


@pytest.fixture
def made(write: Write) -> Made:
    return write(
        *(f"x_{dtype.value}:input:{dtype}:{SHAPE}" for dtype in DType),
        *(f"out_{dtype.value}:output:{dtype}:{SHAPE}" for dtype in DType),
    )


def solution(made: Made, language: Language) -> str:
    (found,) = [
        candidate.source
        for candidate in subjects(made.challenge, (language,))
        if candidate.role is CandidateRole.SOLUTION
    ]
    return found


def tried(made: Made, trial: Trial, language: Language, source: str, names: Sequence[str]) -> CandidateResult:
    cases = [case for case in made.challenge.cases if case.name in names]
    candidate = Candidate(CandidateRole.MUTANT, "kernel", language, source)
    return trial.try_cases(candidate, cases, every_case=False)


@pytest.mark.needs("nvcc", "emulator")
def test_the_emulated_gpu_accepts_a_right_kernel_of_every_type(made: Made) -> None:
    signature = declaration(made.challenge.manifest, Language.CUDA)
    for dtype in DType:
        assert f"const {dtype.c_type}* x_{dtype.value}, " in signature
    source = without_cstdint(solution(made, Language.CUDA))
    trial = Trial(made.challenge, make_device("emulated", 0), made.boxes)
    result = tried(made, trial, Language.CUDA, source, SPECIAL)
    assert (result.ending, result.ran) == (CandidateOutcome.ACCEPTED, len(SPECIAL)), result


def test_the_interpreter_accepts_a_right_kernel_and_refuses_wrong_ones_of_every_type(made: Made) -> None:
    trial = Trial(made.challenge, HostDevice(), made.boxes)
    result = tried(made, trial, Language.TRITON, solution(made, Language.TRITON), SPECIAL)
    assert (result.ending, result.ran) == (CandidateOutcome.ACCEPTED, len(SPECIAL)), result
    found = {wrong.name: wrong.source for wrong in generics(made.challenge)}
    for dtype in DType:
        source = found[f"tail_dropped:out_{dtype.value}"]
        result = tried(made, trial, Language.TRITON, source, ["n_33"])
        assert result.ending is CandidateOutcome.FAILED, dtype
        assert f"out_{dtype.value}[" in result.detail


def without_cstdint(source: str) -> str:
    """The same source without <cstdint>: built-in types replace its aliases."""
    source = source.replace("#include <cstdint>\n", "").replace("#include <cuda_runtime.h>\n", "")
    aliases = {dtype.c_type: dtype.c_built_in for dtype in DType if dtype.facts.built_in}
    for name in aliases:
        source = re.sub(rf"\b{name}\b", f"own_{name}", source)
    lines = "".join(f"using own_{name} = {built_in};\n" for name, built_in in aliases.items())
    head, marker, rest = source.partition("constexpr int kThreads")
    return f"{head}{lines}{marker}{rest}"
