"""CUTLASS's and CuTe's tensor-core kernels on the emulated GPU, by a challenge that allows their headers."""

from __future__ import annotations

from dataclasses import replace

from grader.challenge.catalogue import find_catalogue
from grader.device_kinds import EMULATED
from grader.judge.at_home import judge_at_home
from grader.languages import Language
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Verdict
from tests.components import need
from tests.emulator.conftest import FOLDER


def test_a_gemm_of_cutlass_and_one_of_cute_are_accepted() -> None:
    need("nvcc")
    need("cutlass")
    loaded = find_catalogue().load("matmul_fp16")
    challenge = replace(loaded, manifest=loaded.manifest.model_copy(update={"allow": ["cutlass"]}))
    source = (FOLDER / "cutlass.cu").read_text()
    report = judge_at_home(challenge, source, Language.CUDA, LocalBoxes(), device=EMULATED, timing=False)
    assert report.verdict is Verdict.ACCEPTED, report.compiler_log or [
        case for case in report.cases if case.detail
    ]
