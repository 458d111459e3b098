"""HIP, compiled by nvcc with HIP's own headers for NVIDIA's GPUs, runs on the emulated GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import EMULATED
from grader.errors import BoxUnavailable
from grader.judge.at_home import judge_at_home
from grader.judge.compilation import compile_source, compiler_of, request_of
from grader.languages import Language
from grader.sandbox import kernel_headers
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import CaseVerdict, Report, Verdict
from tests.components import need
from tests.languages.conftest import SLUG

SOURCE = """#include <hip/hip_runtime.h>
#include <cstdint>

__global__ void twice(const float* x, float* out, int64_t n, int64_t last) {
    int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    float value = __shfl_xor(__shfl_xor(i < n ? x[i] : 0.0f, 1), 1);
    if (__ballot(i < n) != 0 && i < last) out[i] = value + x[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    hipDeviceProp_t found;
    if (hipGetDeviceProperties(&found, 0) != hipSuccess || found.warpSize != 32 || found.clockRate <= 0) return;
    hipLaunchKernelGGL(twice, dim3((n + 255) / 256), dim3(256), 0, 0, x, out, n, n);
    (void)hipDeviceSynchronize();
}
"""
# Right, but for an element too many in one case, and in another a call that the emulated GPU lacks.
HALF_RIGHT = SOURCE.replace(", n, n);", ", n, n == 101 ? n + 1 : n);").replace(
    "    hipLaunch",
    """    if (n == 1) {
        hipIpcMemHandle_t handle;
        (void)hipIpcGetMemHandle(&handle, out);
    }
    hipLaunch""",
)


def judged(catalogue: Catalogue, source: str) -> Report:
    need("nvcc")
    need("emulator")
    need("hip")
    return judge_at_home(
        catalogue.load(SLUG), source, Language.HIP, LocalBoxes(), device=EMULATED, timing=False
    )


def test_endings_and_includes_tell_hip_from_cuda() -> None:
    assert Language.of_file("a.hip") is Language.HIP
    assert Language.of_file("a.hip.cpp") is Language.HIP
    assert Language.HIP.begins_in(SOURCE)
    assert not Language.HIP.begins_in("#include <cuda_runtime.h>\n")


def test_it_runs_on_the_emulated_gpu_which_names_mistakes(catalogue: Catalogue) -> None:
    report = judged(catalogue, HALF_RIGHT)
    cases = {case.name: case for case in report.cases}
    right = {name for name, case in cases.items() if case.verdict is CaseVerdict.ACCEPTED}
    assert right == cases.keys() - {"one", "prime"}, report.compiler_log or cases
    assert report.language is Language.HIP
    assert "does not compile" not in report.compiler_log
    assert "Line 7: Thread 101 of block 0 reads" in cases["prime"].detail
    assert "cudaIpcGetMemHandle" in cases["one"].detail


def test_a_compile_error_names_the_students_file_and_line(catalogue: Catalogue) -> None:
    report = judged(catalogue, SOURCE.replace("hipDeviceSynchronize", "hipDeviceSynchronise"))
    assert report.verdict is Verdict.COMPILE_ERROR
    assert report.detail.startswith("solution.hip(15): error")


def test_a_machine_without_the_headers_says_so(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("nvcc")
    monkeypatch.setenv("HIP_PATH", str(tmp_path))
    monkeypatch.setitem(
        kernel_headers.HEADER_LIBRARIES,
        "hip_headers",
        replace(kernel_headers.HEADER_LIBRARIES["hip_headers"], places=()),
    )
    assert compiler_of(Language.HIP).version() is None
    request = request_of(catalogue.load(SLUG), Language.HIP, SOURCE, "compute_90a")
    with pytest.raises(
        BoxUnavailable, match="this machine has no HIP headers, which the language needs"
    ) as refused:
        compile_source(LocalBoxes(), request)
    assert "libamdhip64-dev" in refused.value.hint
