"""Which problems of other platforms become challenges, and why the others do not.

Usage: python benchmarks/imports.py [--json] [--check] SOURCES [TEXT ...]

SOURCES is a folder with clones of ScalingIntelligence/KernelBench, AlphaGPU/leetgpu-challenges and
gpu-mode/reference-kernels; nothing of them is kept but their paths and commits. TEXT picks problems by their paths.

Each problem is imported as `grader challenge import` does it, with a solution that its source publishes if one runs
here; else its solution is a stand-in, PyTorch's own operations. That is judged by every case on the board ``cpu``. Of
the 24 tasks of GPU MODE in ``CONTEST``, those that import refuses are made by `grader challenge new` of a signature
and a reference in ``benchmarks/expressed``, of so many own lines. ``--check``: also what `grader challenge check` says
of files, reference, tolerance and suite, without its wrong kernels. Rows of earlier runs stay.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results import keep, merged

from grader.authoring.candidates import subjects
from grader.authoring.importing.challenge import write_imported
from grader.authoring.importing.source import read
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.signature_line import read_signature
from grader.authoring.scaffold.stated import read_tolerance, write_stated
from grader.authoring.trial import Trial
from grader.authoring.worker_pool import examine
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.device_kinds import EMULATED
from grader.errors import GraderError
from grader.judge.device import Device, make_device
from grader.judge.request import CPU
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.proof import CandidateOutcome, CandidateResult, CandidateRole, Status

EXPRESSED = Path(__file__).resolve().parent / "expressed"
# Repository -> where its problems are, and ours.
KERNELBENCH = (
    "level1/1_Square_matrix_multiplication_.py",
    "level1/23_Softmax.py",
    "level1/26_GELU_.py",
    "level1/40_LayerNorm.py",
    "level1/47_Sum_reduction_over_a_dimension.py",
    "level1/52_Argmin_over_a_dimension.py",
    "level1/71_conv_transposed_2D__asymmetric_input__square_kernel.py",
    "level1/95_CrossEntropyLoss.py",
    "level2/12_Gemm_Multiply_LeakyReLU.py",
    "level2/1_Conv2D_ReLU_BiasAdd.py",
    "level1/14_Matmul_for_upper_triangular_matrices.py",
    "level1/98_KLDivLoss.py",
    "level3/43_MinGPTCausalAttention.py",
)
LEETGPU = (
    "easy/1_vector_add",
    "easy/3_matrix_transpose",
    "easy/9_1d_convolution",
    "medium/110_gae_reverse_scan",
    "medium/17_dot_product",
    "medium/30_batched_matrix_multiplication",
    "medium/40_batch_normalization",
    "medium/49_3d_subarray_sum",
    "medium/5_softmax",
    "medium/70_segmented_prefix_sum",
    "medium/32_int8_quantized_matmul",
    "medium/67_moe_topk_gating",
    "hard/12_multi_head_attention",
)
GPU_MODE = (
    "pmpp_v2/conv2d_py",
    "pmpp_v2/grayscale_py",
    "pmpp_v2/histogram_py",
    "pmpp_v2/matmul_py",
    "pmpp_v2/prefixsum_py",
    "pmpp_v2/sort_py",
    "pmpp_v2/vectoradd_py",
    "pmpp_v2/vectorsum_py",
)
CONTEST = (
    "amd/fp8-mm",
    "amd/mla-decode",
    "amd/moe",
    "amd_202602/mixed-mla",
    "amd_202602/moe-mxfp4",
    "amd_202602/mxfp4-mm",
    "amd_distributed/ag-gemm",
    "amd_distributed/all2all",
    "amd_distributed/gemm-rs",
    "bioml/trimul",
    "helion/causal_conv1d_py",
    "helion/fp8_quant_py",
    "helion/gated_deltanet_chunk_fwd_h_py",
    "helion/gated_deltanet_chunk_fwd_o_py",
    "helion/gated_deltanet_recompute_w_u_py",
    "linalg/cholesky_py",
    "linalg/eigh_py",
    "linalg/qr_py",
    "linalg/qr_v2",
    "nvidia/nvfp4_dual_gemm",
    "nvidia/nvfp4_gemm",
    "nvidia/nvfp4_gemv",
    "nvidia/nvfp4_group_gemm",
    "princeton/cross_entropy_py",
)
PROBLEMS = {
    "KernelBench": ("KernelBench", KERNELBENCH),
    "leetgpu-challenges": ("challenges", LEETGPU),
    "reference-kernels": ("problems", (*GPU_MODE, *CONTEST)),
}
# Where a source's solutions are, relative to the problem.
_PUBLISHED = ("solutions/correct/*.py", "submission.py")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("sources", type=Path)
    parser.add_argument("texts", nargs="*")
    options = parser.parse_args()
    tune()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for part in ("challenges", "reference"):
            (Path(folder) / part).mkdir()
        for number, (repository, name) in enumerate(_chosen(options.texts)):
            bench = _Bench(options.sources.resolve() / repository, Catalogue(Path(folder)), options.check)
            row = bench.row(name, f"p{number}")
            rows.append(row)
            if options.json:
                keep("imports", {"rows": merged("imports", [row], "problem")})
            print(
                f"{row['result']:12} {row['seconds']:5.1f} s  {row['problem']}  {row['detail']}", flush=True
            )
    done = sum(row["result"] == "accepted" for row in rows)
    print(f"{done} of {len(rows)} are challenges whose solution is accepted")
    return 0


def _chosen(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for repository, (folder, names) in PROBLEMS.items():
        for name in names:
            if not texts or any(text in f"{folder}/{name}" for text in texts):
                yield repository, f"{folder}/{name}"


@dataclass
class _Bench:
    """``root``: a clone."""

    root: Path
    catalogue: Catalogue
    check: bool

    def row(self, name: str, slug: str) -> dict[str, Any]:
        """``result``: accepted, not right (with the first case), or refused with the reason. ``expressed``: by import,
        or by so many own lines. ``left``: what a person must still do."""
        began = time.perf_counter()
        row: dict[str, Any] = {"problem": name, "source": f"{self.root.name}@{self._commit()}"}
        row |= {"contest": name.partition("/")[2] in CONTEST, "result": "refused", "expressed": "by import"}
        try:
            row |= self._imported(self.root / name, slug)
        except GraderError as error:
            row |= {"detail": error.message, "refused": error.message}
            row |= self._expressed(name, f"{slug}_own")
        return {**row, "seconds": round(time.perf_counter() - began, 1)}

    def _commit(self) -> str:
        found = subprocess.run(
            ["git", "-C", str(self.root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        )
        return found.stdout.strip()[:12]

    def _imported(self, path: Path, slug: str) -> dict[str, Any]:
        """Raises GraderError if it is refused."""
        problem = read(str(path), path)
        found: dict[str, Any] = {}
        not_here: dict[str, str] = {}
        for number, solution in enumerate([*_published(path), None]):
            name = f"{slug}_{number}"
            text = solution.read_text("utf-8") if solution is not None else ""
            try:
                _, left = write_imported(self.catalogue, problem, name, "tests", "easy", text)
            except GraderError:
                if solution is None:
                    raise
                continue
            challenge = self.catalogue.load(name)
            found = {
                "format": problem.format,
                "solution": str(solution.relative_to(path)) if solution is not None else "stand-in",
                "cases": len(challenge.cases),
                "left": left,
                **self._judged(challenge, make_device(CPU)),
            }
            if found["result"] == "accepted":
                break
            if solution is not None:
                not_here[found["solution"]] = found["detail"]
        return {**found, "not_here": not_here}

    def _judged(self, challenge: Challenge, device: Device) -> dict[str, Any]:
        result = _tried(challenge, device)
        found: dict[str, Any] = {"result": "accepted", "detail": f"{result.ran} cases"}
        if result.failed or result.ending is not CandidateOutcome.ACCEPTED:
            said = f"{len(result.failed)} of {result.ran} cases: {result.detail}"
            found = {"result": "not right", "detail": said[:300]}
        if self.check:
            checks = examine(challenge, device)
            bad = [check for check in checks if check.status is not Status.OK]
            found["check"] = {
                "ok": len(checks) - len(bad),
                **{check.name: check.summary[:200] for check in bad},
            }
        return found

    def _expressed(self, name: str, slug: str) -> dict[str, Any]:
        """By own lines, if there are any in ``benchmarks/expressed``."""
        path = EXPRESSED / name.partition("/")[2].replace("/", "_").replace("-", "_")
        if path.is_dir():
            return self._of_folder(path, slug)
        path = path.with_suffix(".py")
        if not path.is_file():
            return {"expressed": "no"}
        text = path.read_text("utf-8")
        said = _said(text)
        found = {"expressed": f"by {_lines(text)} own lines", "detail": "", "changed": said["about"]}
        try:
            return {**found, **self._stated(path, slug, said)}
        except GraderError as error:
            return {**found, "result": "not right", "detail": error.message}

    def _stated(self, path: Path, slug: str, said: dict[str, str]) -> dict[str, Any]:
        """Raises GraderError."""
        constraints = [part.strip() for part in said.get("constraints", "").split(",") if part.strip()]
        draft = Draft(
            slug=slug,
            title=path.stem.replace("_", " "),
            track="tests",
            languages=[Language.TRITON],
            args=read_signature(said["signature"]),
            constraints=constraints,
        )
        write_stated(self.catalogue, draft, str(path), read_tolerance(said["tolerance"]))
        challenge = self.catalogue.load(slug)
        judged = self._judged(challenge, make_device(CPU))
        return {"cases": len(challenge.cases), "solution": "stand-in", **judged}

    def _of_folder(self, path: Path, slug: str) -> dict[str, Any]:
        """One for two GPUs, on the emulated GPU, with a solution in CUDA."""
        seen, kept = (self.catalogue.root / part / slug for part in ("challenges", "reference"))
        for folder, names in ((seen, ("challenge.toml", "cases.py")), (kept, ("reference.py",))):
            folder.mkdir()
            for each in names:
                shutil.copy(path / each, folder)
        (seen / "spec.md").write_text("# Two GPUs\n", "utf-8")
        (kept / "staff").mkdir()
        shutil.copy(path / "solution.cu", kept / "staff")
        texts = [(path / each).read_text("utf-8") for each in ("challenge.toml", "cases.py", "reference.py")]
        about = [line.removeprefix("# ") for line in texts[0].splitlines() if line.startswith("# ")]
        found = {"expressed": f"by {sum(map(_lines, texts))} own lines", "changed": " ".join(about)}
        challenge = self.catalogue.load(slug)
        found |= {"cases": len(challenge.cases), "solution": "a kernel of ours, on the emulated GPU"}
        return {**found, **self._judged(challenge, make_device(EMULATED))}


def _said(text: str) -> dict[str, str]:
    """What the docstring of a file in ``expressed`` says of the signature, tolerance, constraints, and before."""
    parts = re.split(
        r"^(signature|tolerance|constraints): ", str(ast.get_docstring(ast.parse(text))), flags=re.MULTILINE
    )
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {"about": " ".join(parts[0].split()), **{name: " ".join(said.split()) for name, said in named}}


def _lines(text: str) -> int:
    """Lines that are neither empty nor prose."""
    prose = text.partition("\n\n")[0].splitlines() if text.startswith('"') else []
    written = [line.strip() for line in text.splitlines()[len(prose) :]]
    return sum(bool(line.strip('"')) and not line.startswith("#") for line in written)


def _published(path: Path) -> list[Path]:
    return [found for pattern in _PUBLISHED for found in sorted(path.glob(pattern))] if path.is_dir() else []


def _tried(challenge: Challenge, device: Device) -> CandidateResult:
    with closing(ForkedBoxes()) as boxes, closing(Trial(challenge, device, boxes)) as trial:
        (solution,) = [
            candidate
            for candidate in subjects(challenge, tuple(challenge.manifest.languages))
            if candidate.role is CandidateRole.SOLUTION
        ]
        return trial.try_out(solution, every_case=True)


if __name__ == "__main__":
    raise SystemExit(main())
