"""What the figures of the GPU are taken from: honest solutions, graded by the judge and timed in other ways."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind, Workload
from grader.challenge.signature import cuda_footer
from grader.judge.device import Device
from grader.judge.request import CPU
from grader.judge.roofline import is_ranked
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda

HERE = Path(__file__).resolve().parent
HONEST_SECONDS = 240.0


@dataclass(frozen=True)
class Subject:
    """One solution."""

    name: str
    catalogue: Catalogue
    slug: str
    language: Language

    @property
    def challenge(self) -> Challenge:
        return self.catalogue.load(self.slug)

    @property
    def path(self) -> Path:
        return self.catalogue.root / "reference" / self.slug / "staff" / f"solution{self.language.suffix}"

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")


def subjects(device: Device) -> list[Subject]:
    """The subjects that this device can run."""
    catalogue, private = find_catalogue(), Catalogue(HERE / "catalogue")
    every = [
        Subject("vector_add, Triton", catalogue, "vector_add", Language.TRITON),
        Subject("vector_add, CUDA", catalogue, "vector_add", Language.CUDA),
        Subject("softmax, Triton", catalogue, "softmax", Language.TRITON),
        Subject("matmul fp16, Triton", private, "matmul_fp16_8192", Language.TRITON),
    ]
    return [subject for subject in every if subject.language in device.languages()]


def workloads(challenge: Challenge, device: Device, *, ranked_only: bool) -> list[Workload]:
    """The workloads of this kind of device; ``ranked_only``: those whose roofline time is long enough."""
    on = "cpu" if device.name == CPU else "gpu"
    return [
        workload
        for workload in challenge.manifest.workloads
        if workload.on == on
        and not (ranked_only and on == "gpu" and not is_ranked(challenge.manifest, workload, device))
    ]


def narrowed(challenge: Challenge, chosen: Sequence[Workload]) -> Challenge:
    """The challenge with these workloads only."""
    manifest = challenge.manifest.model_copy(update={"workloads": list(chosen)})
    return replace(challenge, manifest=manifest)


def task(subject: Subject, chosen: Sequence[Workload], device: Device, maker: BoxMaker, folder: Path) -> Any:
    """What ``honest.py`` needs to run the subject's solution: the same source, or the same compiled library."""
    challenge = subject.challenge
    path = subject.path
    if subject.language is Language.CUDA:
        request = CompileRequest(subject.source, cuda_footer(challenge.manifest), arch=device.architecture)
        made = compile_cuda(maker, request)
        if made.artefact is None:
            raise RuntimeError(f"{subject.path} does not compile:\n{made.log}")
        path = folder / f"{subject.slug}.so"
        path.write_bytes(made.artefact)
    return {
        "name": subject.name,
        "path": str(path),
        "workloads": {workload.name: _arguments(challenge, workload) for workload in chosen},
    }


def _arguments(challenge: Challenge, workload: Workload) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for arg in challenge.manifest.args:
        if arg.kind is Kind.SIZE:
            found.append({"kind": "size", "value": workload.sizes[arg.name]})
        elif arg.kind is Kind.SCALAR:
            found.append({"kind": "scalar", "dtype": arg.dtype.value, "value": arg.value})
        else:
            shape = list(challenge.manifest.shape(arg, workload.sizes))
            found.append({"kind": arg.kind.value, "dtype": arg.dtype.value, "shape": shape})
    return found


def honest(tasks: Sequence[Any], methods: Sequence[str], folder: Path, *before: str) -> dict[str, Any]:
    """Times by ``honest.py`` in a fresh process: subject -> workload -> method -> microseconds.

    ``before``: words of a program that runs it, such as a profiler. Its output is under the key "" then.
    """
    asked, answered = folder / "asked.json", folder / "answered.json"
    asked.write_text(json.dumps({"tasks": list(tasks), "methods": list(methods)}))
    answered.unlink(missing_ok=True)
    ran = subprocess.run(
        [*before, sys.executable, str(HERE / "honest.py"), str(asked), str(answered)],
        capture_output=True,
        text=True,
        timeout=HONEST_SECONDS,
        check=False,
        env={**os.environ, "TRITON_CACHE_DIR": str(folder / "triton"), **_same_gpu()},
    )
    if ran.returncode != 0 or not answered.exists():
        raise RuntimeError(
            f"honest.py failed ({ran.returncode}):\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
        )
    found: dict[str, Any] = json.loads(answered.read_text())
    return {**found, "": ran.stdout} if before else found


def _same_gpu() -> dict[str, str]:
    """The other process sees the GPU that this one uses, and no other."""
    return {"CUDA_VISIBLE_DEVICES": str(torch.cuda.current_device())} if torch.cuda.is_available() else {}
