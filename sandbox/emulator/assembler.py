"""Register counts from NVIDIA's assembler, for PTX that comes without machine code."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

# After this long, a kernel counts as using all registers.
_SECONDS = 30.0
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d{2,3}[af]?)", re.MULTILINE)
_ENTRY = re.compile(r"ptxas[\w-]* info\s*: Compiling entry function '(\w+)' for ")
_USED = re.compile(r"ptxas[\w-]* info\s*: Used (\d{1,3}) registers")


def tritons_ptxas() -> Path | None:
    """Triton's own ptxas: of two, the one for sm_90 and newer."""
    found = importlib.util.find_spec("triton")
    folders = (found.submodule_search_locations or []) if found is not None else []
    names = ("ptxas-blackwell", "ptxas")
    paths = (Path(folder, "backends", "nvidia", "bin", name) for name in names for folder in folders)
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def registers_of_ptx(text: str, ptxas: Path) -> dict[str, int]:
    """Registers of a thread by kernel. Empty if ``ptxas`` is missing or rejects ``text``."""
    target = _TARGET.search(text)
    if target is None:
        return {}
    descriptor = os.memfd_create("ptx")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(text.encode())
        path = f"/proc/self/fd/{descriptor}"
        command = [str(ptxas), "-v", f"--gpu-name={target[1]}", "-o", "/dev/null", path]
        ran = subprocess.run(
            command, pass_fds=[descriptor], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    finally:
        os.close(descriptor)
    found: dict[str, int] = {}
    name = ""
    for line in (ran.stdout + ran.stderr).splitlines():
        if entry := _ENTRY.match(line):
            name = entry[1]
        elif name and (used := _USED.match(line)):
            found[name], name = int(used[1]), ""
    return found
