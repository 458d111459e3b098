"""Made-up GPUs, and an ``nvidia-smi`` that lists them."""

from __future__ import annotations

from pathlib import Path

from grader.sandbox.gpu import Gpu

H200 = Gpu(0, "GPU-0000-aa", (), "NVIDIA H200")
SECOND = Gpu(1, "GPU-1111-bb", (), "NVIDIA H200")
T4 = Gpu(2, "GPU-2222-cc", (), "Tesla T4")


def fake_smi(folder: Path, *gpus: Gpu) -> Path:
    """A folder for the PATH whose nvidia-smi lists ``gpus``; no CUDA can use them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"{gpu.index}, {gpu.uuid}, {gpu.name}" for gpu in gpus)
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'end'\n{lines}\nend\n")
    program.chmod(0o755)
    return folder
