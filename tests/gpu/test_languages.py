"""HIP and CuTe DSL on a card, if HIP's headers and the package are installed."""

from __future__ import annotations

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.schemas.report import Report, Verdict
from tests.components import need
from tests.gpu.conftest import Refilled, _lengthened
from tests.languages.test_cute import SOURCE as CUTE
from tests.languages.test_hip import SOURCE as HIP

# Traces at each call; only the first one compiles.
DIRECT = CUTE.replace('compiled["launch"](*', "launch(*").replace(
    '    if "launch" not in compiled:\n        compiled["launch"] = cute.compile(launch, *given[:2], n, 2.0)\n',
    "",
)
ON_TORCHS_STREAM = (
    CUTE.replace("import torch\n", "import cuda.bindings.driver as cuda\nimport torch\n")
    .replace("cutlass.Float32):\n    scale", "cutlass.Float32, stream: cuda.CUstream):\n    scale")
    .replace("block=[256, 1, 1])", "block=[256, 1, 1], stream=stream)")
    .replace("    kept =", "    stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)\n    kept =")
    .replace("2.0)", "2.0, stream)")
    .replace("1.0)", "1.0, stream)")
)
BY_TORCH = CUTE.replace('    compiled["launch"](*given[1:], n, 1.0)\n', "    out.copy_(kept)\n")
NAMELESS = CUTE.replace("factor * x[i]", "factor * y[i]")


def judged(
    device: Device, boxes: Refilled, catalogue: Catalogue, language: Language, source: str, timing: bool
) -> Report:
    need("hip" if language.compiled else "cutedsl")
    loaded = catalogue.load("twice")
    challenge = _lengthened(loaded) if timing else loaded
    request = Request(
        challenge, language, source, device.name, b"gpu tests" * 4, challenge.cases, timing=timing
    )
    return Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report


@pytest.mark.parametrize(
    ("language", "source"),
    [
        pytest.param(Language.HIP, HIP, id="hip"),
        pytest.param(Language.CUTE, CUTE, id="cute"),
        pytest.param(Language.CUTE, DIRECT, id="cute, traced at each call"),
        pytest.param(Language.CUTE, ON_TORCHS_STREAM, id="cute, on torch's stream"),
    ],
)
def test_a_right_source_is_accepted_and_timed(
    device: Device, boxes: Refilled, catalogue: Catalogue, language: Language, source: str
) -> None:
    report = judged(device, boxes, catalogue, language, source, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    (workload,) = report.workloads
    print(language, workload.time_us, workload.gated, report.speedups, report.breakdown_s)
    assert workload.gated
    assert not report.library_ops


def test_torchs_own_kernel_is_named(device: Device, boxes: Refilled, catalogue: Catalogue) -> None:
    report = judged(device, boxes, catalogue, Language.CUTE, BY_TORCH, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.library_ops


def test_an_error_of_the_compiler_is_shown(device: Device, boxes: Refilled, catalogue: Catalogue) -> None:
    report = judged(device, boxes, catalogue, Language.CUTE, NAMELESS, timing=False)
    assert report.verdict is Verdict.RUNTIME_ERROR, report
    assert report.cases[0].detail.startswith("Line 13: CuTe DSL cannot compile this: NameError")
