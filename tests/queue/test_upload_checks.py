"""A check of an upload in a box, from the archive to the findings."""

from __future__ import annotations

import base64

import pytest

from grader.challenge import bundle
from grader.queue.checker import Checker
from grader.queue.loop import Stopper
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.proof import CandidateOutcome
from grader.schemas.upload import UploadBody
from grader.service.accounts.accounts import User
from grader.service.challenges import uploads
from grader.service.platform import Platform
from tests.components import need

REFERENCE = "def reference(a, i, alpha, n):\n    return a * alpha\n"
CHECK = """
def check(given, got, want):
    wrong = (got["out"].abs() != want["out"].abs()).nonzero()
    if len(wrong):
        return "its absolute value is another", "out", (int(wrong[0]),)
"""
RIGHT = """#include <cstdint>
#include <cuda_runtime.h>

__global__ void scale(const float* a, float* out, float alpha, int64_t n) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < n) out[at] = a[at] * alpha;
}

extern "C" void solve(const float* a, const int* i, float* out, float alpha, int64_t n) {
    scale<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, out, alpha, n);
}
"""


@pytest.mark.in_turn
def test_an_upload_check_runs_cuda_sources_on_the_emulated_gpu_and_the_challenges_checker(
    platform: Platform, staff: User
) -> None:
    need("nvcc")
    need("emulator")
    folder = platform.catalogue.root / "reference" / "only_cuda"
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "check.py").write_text(CHECK)
    (folder / "staff" / "variants").mkdir(parents=True)
    (folder / "staff" / "solution.cu").write_text(RIGHT)
    flipped = RIGHT.replace("a[at] * alpha", "-a[at] * alpha")
    (folder / "staff" / "variants" / "flipped.cu").write_text(flipped)
    made = bundle.of_challenge(platform.catalogue.load("only_cuda"))
    uploads.upload(platform, staff, UploadBody(archive=base64.b64encode(made.packed())))
    assert Checker(platform, LocalBoxes(), "w", Stopper()).serve_one()
    found = uploads.get_upload(platform, staff, "only_cuda", 1)
    assert found.findings is not None, found.upload.error
    assert found.findings.device == "emulated"
    (solution,) = [attempt for attempt in found.findings.tried if attempt.name == "solution.cu"]
    assert solution.ending is CandidateOutcome.ACCEPTED, solution.detail
    (variant,) = [attempt for attempt in found.findings.tried if attempt.name.endswith("flipped.cu")]
    assert variant.ending is CandidateOutcome.ACCEPTED, variant.detail
    (check,) = [check for check in found.findings.checks if check.name == "checker"]
    assert "accepts the reference's answer in all" in check.summary
