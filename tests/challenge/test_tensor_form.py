"""PyTorch extensions: which sources are, and that their calls get the right tensors."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.tensor_form import is_extension, tensor_footer
from grader.judge.compilation import compile_source, request_of
from grader.languages import Language
from grader.sandbox.local_box import LocalBoxes
from tests.components import need

RUNNER = Path(__file__).resolve().parents[2] / "sandbox" / "runner"
EXTENSION = """#include <torch/types.h>
__global__ void scaled(const float* x, float* y, float alpha, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] += alpha * x[i];
}
void solve(torch::Tensor x, torch::Tensor y, double alpha, int64_t n) {
    TORCH_CHECK(n < 100, "too many: ", n);
    if (x.is_cuda()) scaled<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), alpha, n);
    else y.add_(alpha * x);
}
"""
# Without a GPU: tensors on the processor. It prints a right call's results, and a failed one's message.
CALLS = """
import ctypes, sys
sys.path.insert(0, sys.argv[2])
sys.modules["cuda_binding"] = type(sys)("cuda_binding"); sys.modules["cuda_binding"].CudaBinding = None
from cuda_loader import show_torch
show_torch()
library = ctypes.CDLL(sys.argv[1])
ctypes.c_int.in_dll(library, "grader_tensors_on").value = 0
library.grader_error.restype = ctypes.c_char_p
x, y = (ctypes.c_float * 3)(1, 2, 3), (ctypes.c_float * 3)(10, 20, 30)
def call(count):
    values = [ctypes.c_void_p(ctypes.addressof(x)), ctypes.c_void_p(ctypes.addressof(y)), ctypes.c_float(0.5), ctypes.c_int64(count)]
    return library.grader_entry((ctypes.c_void_p * 4)(*map(ctypes.addressof, values)))
print(call(3), *y)
print(call(200), library.grader_error(-1).decode().partition(chr(10))[0])
"""  # noqa: E501


@pytest.fixture
def challenge() -> Challenge:
    loaded = find_catalogue().load("saxpy")
    return replace(loaded, manifest=loaded.manifest.model_copy(update={"allow": ["torch"]}))


def test_only_sources_that_include_torch_are_extensions(challenge: Challenge) -> None:
    plain = challenge.solutions[Language.CUDA]
    assert is_extension(challenge.manifest, EXTENSION)
    assert not is_extension(challenge.manifest, plain)
    assert not is_extension(find_catalogue().load("saxpy").manifest, EXTENSION), "it is not allowed"
    asked = {
        source: request_of(challenge, Language.CUDA, source, "sm_90").headers for source in (plain, EXTENSION)
    }
    assert asked == {plain: (), EXTENSION: ("torch",)}
    emulated = request_of(challenge, Language.CUDA, EXTENSION, "compute_90a")
    assert emulated.headers == (), "its host has no torch"


def test_tensors_have_the_shapes_of_the_signature() -> None:
    footer = tensor_footer(find_catalogue().load("conv1d").manifest)
    n, k = "*static_cast<const long*>(arguments[3])", "*static_cast<const long*>(arguments[4])"
    assert f"{{std::max<int64_t>(({n}) - ({k}) + 1, 0)}}" in footer or f"({n}) - ({k}) + 1" in footer
    several = tensor_footer(find_catalogue().load("layernorm_backward").manifest)
    assert 'grader_put(std::get<2>(made), dbeta, "dbeta");' in several
    assert 'grader_put(made.at(2), dbeta, "dbeta");' in several


@pytest.mark.in_turn
def test_an_extension_is_compiled_and_called(challenge: Challenge, tmp_path: Path) -> None:
    """About 20 s of a processor: torch's headers are long."""
    need("nvcc")
    request = request_of(challenge, Language.CUDA, EXTENSION, "sm_90")
    result = compile_source(LocalBoxes(), request)
    assert result.ok, result.log
    assert result.artefact is not None
    (tmp_path / "solution.so").write_bytes(result.artefact)
    command = [sys.executable, "-c", CALLS, str(tmp_path / "solution.so"), str(RUNNER)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == ["0 10.5 21.0 31.5", "-1 too many: 200"], ran.stderr
