"""A check of an upload in a box, from the archive to the findings."""

from __future__ import annotations

import base64

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


def test_an_upload_check_runs_cuda_sources_on_the_emulated_gpu(platform: Platform, staff: User) -> None:
    need("nvcc")
    need("emulator")
    folder = platform.catalogue.root / "reference" / "only_cuda"
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "staff").mkdir()
    (folder / "staff" / "solution.cu").write_text(RIGHT)
    made = bundle.of_challenge(platform.catalogue.load("only_cuda"))
    uploads.upload(platform, staff, UploadBody(archive=base64.b64encode(made.packed())))
    assert Checker(platform, LocalBoxes(), "w", Stopper()).serve_one()
    found = uploads.get_upload(platform, staff, "only_cuda", 1)
    assert found.findings is not None, found.upload.error
    assert found.findings.device == "emulated"
    (solution,) = [attempt for attempt in found.findings.tried if attempt.name == "solution.cu"]
    assert solution.ending is CandidateOutcome.ACCEPTED, solution.detail
