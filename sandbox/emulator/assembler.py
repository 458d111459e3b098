"""Registers and spills, by NVIDIA's assembler, of PTX without machine code."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

from .spills import Spills, spills_of_code

_SECONDS = 30.0
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d{2,3}[af]?)", re.MULTILINE)
_ENTRY = re.compile(r"ptxas[\w-]* info\s*: Compiling entry function '(\w+)' for ")
_USED = re.compile(r"ptxas[\w-]* info\s*: Used (\d{1,3}) registers")


def tritons_ptxas() -> Path | None:
    """Of two, the one for sm_90 and newer."""
    found = importlib.util.find_spec("triton")
    folders = (found.submodule_search_locations or []) if found is not None else []
    names = ("ptxas-blackwell", "ptxas")
    paths = (Path(folder, "backends", "nvidia", "bin", name) for name in names for folder in folders)
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def assembled(text: str, ptxas: Path) -> tuple[dict[str, int], Spills]:
    """By kernel. Empty if ``ptxas`` is missing or rejects ``text``."""
    target = _TARGET.search(text)
    if target is None:
        return {}, {}
    descriptor, made = os.memfd_create("ptx"), os.memfd_create("code")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(text.encode())
        path = f"/proc/self/fd/{descriptor}"
        into = f"/proc/self/fd/{made}"
        command = [str(ptxas), "-v", "--generate-line-info", f"--gpu-name={target[1]}", "-o", into, path]
        ran = subprocess.run(
            command,
            pass_fds=[descriptor, made],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        with os.fdopen(os.dup(made), "rb") as file:
            file.seek(0)
            code = file.read()
    except (OSError, subprocess.TimeoutExpired):
        return {}, {}
    finally:
        os.close(descriptor)
        os.close(made)
    found: dict[str, int] = {}
    name = ""
    for line in (ran.stdout + ran.stderr).splitlines():
        if entry := _ENTRY.match(line):
            name = entry[1]
        elif name and (used := _USED.match(line)):
            found[name], name = int(used[1]), ""
    return found, spills_of_code(code)
