"""Baselines by name on a card: cuBLASLt and cuDNN through torch, CUB as a CUDA source, the staff's solution."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.model import NamedBaseline
from grader.judge.device import Device
from grader.judge.failed_baselines import FAILED
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.schemas.report import Verdict
from tests.gpu.conftest import Refilled

CUBLASLT = """

def baseline_cublaslt(a: torch.Tensor, b: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    torch.backends.cuda.preferred_blas_library("cublaslt")
    return a @ b
"""
CUDNN = """

def baseline_cudnn(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, heads: int, seq: int, dim: int
) -> torch.Tensor:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(
            q[None], k[None], v[None], is_causal=True, scale=scale
        )[0]
"""
ABSENT = """

def baseline_absent(x: torch.Tensor, n: int) -> torch.Tensor:
    import a_package_that_nobody_has
"""
CUB = """#include <cstdint>
#include <cub/device/device_reduce.cuh>
#include <cuda_runtime.h>
extern "C" void solve(const float* x, float* out, int64_t n) {
    static void* room = nullptr;
    static size_t bytes = 0;
    size_t wanted = 0;
    cub::DeviceReduce::Sum(nullptr, wanted, x, out, n);
    if (wanted > bytes) { cudaFree(room); cudaMalloc(&room, bytes = wanted); }
    cub::DeviceReduce::Sum(room, wanted, x, out, n);
}
"""
STAFF = NamedBaseline(name="staff", source="solution.cu")


@pytest.mark.parametrize(
    ("slug", "function", "baselines"),
    [
        ("matmul_fp16", CUBLASLT, [NamedBaseline(name="cuBLASLt", function="baseline_cublaslt")]),
        ("causal_attention_fp16", CUDNN, [NamedBaseline(name="cuDNN", function="baseline_cudnn")]),
        ("reduce_sum", ABSENT, [NamedBaseline(name="CUB", source="baselines/cub.cu")]),
    ],
)
def test_baselines_by_name_are_timed(
    device: Device,
    boxes: Refilled,
    served: Catalogue,
    tmp_path: Path,
    slug: str,
    function: str,
    baselines: list[NamedBaseline],
) -> None:
    FAILED._failures.clear()
    for part in ("challenges", "reference"):
        shutil.copytree(served.root / part / slug, tmp_path / part / slug)
    kept = tmp_path / "reference" / slug
    (kept / "reference.py").write_text((kept / "reference.py").read_text() + function)
    (kept / "staff" / "baselines").mkdir()
    (kept / "staff" / "baselines" / "cub.cu").write_text(CUB)
    shutil.copy(served.root / "challenges" / "tracks.toml", tmp_path / "challenges")
    loaded = Catalogue(tmp_path).load(slug)
    named = [*baselines, STAFF]
    if slug == "reduce_sum":
        named.append(NamedBaseline(name="absent", function="baseline_absent"))
    timed = [workload for workload in loaded.manifest.workloads if workload.on == "gpu"][-1:]
    changed = loaded.manifest.model_copy(update={"baselines": named, "workloads": timed})
    challenge = replace(loaded, manifest=changed)
    request = Request(
        challenge=challenge,
        language=Language.CUDA,
        source=challenge.solutions[Language.CUDA],
        device=device.name,
        seed_key=b"gpu tests" * 4,
        cases=challenge.cases[:3],
    )
    report = Session(request, device, boxes, lambda _: None, lambda: None, boxes.quiet).run().report
    assert report.verdict is Verdict.ACCEPTED, report
    (workload,) = report.workloads
    expected = {"eager", "compile", STAFF.name, *(each.name for each in baselines)}
    assert {*workload.baselines_us, *workload.short_baselines} == expected
    print(slug, workload.time_us, workload.baselines_us, report.speedups)
    assert report.speedups[STAFF.name] == pytest.approx(1, rel=0.1)
    for name in (each.name for each in baselines):
        assert 0.02 < report.speedups[name] / report.speedups["eager"] < 50
