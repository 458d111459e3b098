"""CUTLASS's and CuTe's tensor-core kernels on a card; set CUTLASS_PATH if the package is not installed."""

from __future__ import annotations

from dataclasses import replace

from grader.challenge.catalogue import Catalogue
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.schemas.report import Verdict
from tests.components import need
from tests.emulator.conftest import FOLDER
from tests.gpu.conftest import Refilled


def test_a_gemm_of_cutlass_and_one_of_cute_are_accepted(
    device: Device, boxes: Refilled, served: Catalogue
) -> None:
    need("cutlass")
    loaded = served.load("matmul_fp16")
    challenge = replace(loaded, manifest=loaded.manifest.model_copy(update={"allow": ["cutlass"]}))
    source = (FOLDER / "cutlass.cu").read_text()
    request = Request(challenge, Language.CUDA, source, device.name, b"gpu tests" * 4, challenge.cases)
    report = Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report
    assert report.verdict is Verdict.ACCEPTED, report.compiler_log or report
    print([(each.name, each.time_us, each.baselines_us) for each in report.workloads])
