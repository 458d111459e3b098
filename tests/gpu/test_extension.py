"""PyTorch extensions on a card: tensors over the judge's memory, torch's allocator behind the gate, errors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.schemas.report import Report, Verdict
from tests.gpu.conftest import Refilled, _lengthened

KERNEL = """#include <torch/types.h>
__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
"""
IN_PLACE = (
    KERNEL
    + """void solve(torch::Tensor x, torch::Tensor out, int64_t n) {
    TORCH_CHECK(x.is_cuda() && x.sizes() == out.sizes() && x.numel() == n, "not the challenge's tensors");
    if (n > 0) twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
}
"""
)
RETURNING = (
    KERNEL.replace("torch/types.h", "torch/extension.h")
    + """torch::Tensor solve(torch::Tensor x, int64_t n) {
    auto out = torch::empty_like(x);
    if (n > 0) twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("solve", &solve); }
"""
)


def judged(device: Device, boxes: Refilled, catalogue: Catalogue, source: str, timing: bool) -> Report:
    loaded = catalogue.load("twice")
    allowing = replace(loaded, manifest=loaded.manifest.model_copy(update={"allow": ["torch"]}))
    challenge = _lengthened(allowing) if timing else allowing
    request = Request(
        challenge, Language.CUDA, source, device.name, b"gpu tests" * 4, challenge.cases, timing=timing
    )
    return Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report


@pytest.mark.parametrize("source", [IN_PLACE, RETURNING], ids=["in place", "returning"])
def test_an_extension_is_accepted_and_timed(
    device: Device, boxes: Refilled, catalogue: Catalogue, source: str
) -> None:
    report = judged(device, boxes, catalogue, source, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    (workload,) = report.workloads
    print(workload.time_us, workload.gated, report.speedups)
    assert workload.gated


def test_an_error_of_torch_is_shown(device: Device, boxes: Refilled, catalogue: Catalogue) -> None:
    source = RETURNING.replace("return out;", "return out.reshape({1, -1});")
    report = judged(device, boxes, catalogue, source, timing=False)
    assert report.verdict is Verdict.RUNTIME_ERROR, report
    assert "solve returns out as Float [1, " in report.cases[0].detail
