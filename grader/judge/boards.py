"""What a board is called. Without torch: workers and the command line name boards, too."""

from __future__ import annotations

import re

# The board of machines without a GPU, and what a CUDA source is compiled for where nothing can run it: enough to tell
# whether it compiles.
CPU, CPU_ARCHITECTURE = "cpu", "sm_90"


def board_name(model: str) -> str:
    """What a board is called by the hardware's own name: "NVIDIA H200" is ``h200``, "Tesla T4" is ``t4``."""
    words = re.sub(r"(?i)nvidia|tesla|geforce|quadro|\(.*?\)", " ", model).split()
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-") or "gpu"
