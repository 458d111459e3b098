"""Where this host's CUDA toolkit is, and which."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from pathlib import Path


def cuda_home() -> Path | None:
    """The folder of the CUDA toolkit, links resolved; None without one."""
    named = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
    found = (Path(name).resolve() for name in named if name)
    return next((folder for folder in found if (folder / "bin" / "nvcc").exists()), None)


@functools.cache
def nvcc_version() -> str | None:
    """Version of the CUDA compiler, such as ``13.0.88``; None without one."""
    home = cuda_home()
    if home is None:
        return None
    try:
        said = subprocess.run(
            [home / "bin" / "nvcc", "--version"], capture_output=True, text=True, timeout=20, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\bV(\d+(?:\.\d+)+)", said)
    return found.group(1) if found else None
