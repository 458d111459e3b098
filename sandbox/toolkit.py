"""This host's CUDA toolkit: installed, or NVIDIA's wheels (the extra ``cuda``)."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

INSTALL = (
    "Install the CUDA toolkit or `pip install 'kernel-grader[cuda]'`; or set CUDA_HOME to a toolkit's folder."
)
CONVENTIONAL = "/usr/local/cuda"
WHEELS = "Python packages"
PROGRAMS = ("bin/nvcc", "bin/cudafe++", "bin/ptxas", "bin/fatbinary", "bin/nvlink", "nvvm/bin/cicc")
_SECONDS = 20


@dataclass(frozen=True)
class Toolkit:
    """``home``: links resolved. ``found``: the source, such as ``CUDA_HOME``."""

    home: Path
    found: str

    @property
    def nvcc(self) -> Path:
        return self.home / "bin" / "nvcc"


def find_toolkit() -> Toolkit | None:
    """From CUDA_HOME, CUDA_PATH, the PATH, /usr/local/cuda or this Python's wheels, in this order."""
    return next((toolkit for toolkit in _candidates() if toolkit.nvcc.exists()), None)


def _candidates() -> Iterator[Toolkit]:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if named := os.environ.get(name):
            yield Toolkit(Path(named).resolve(), name)
    if (on_path := shutil.which("nvcc")) and (home := _home_of(on_path)):
        yield Toolkit(home, "PATH")
    yield Toolkit(Path(CONVENTIONAL).resolve(), CONVENTIONAL)
    for folder in _wheels():
        yield Toolkit(folder, WHEELS)


@functools.cache
def _home_of(nvcc: str) -> Path | None:
    """Asks ``nvcc``, which may be a link or a script."""
    folder = Path(nvcc).resolve().parent
    if (folder / "nvcc.profile").exists():
        return folder.parent
    said = _output([nvcc, "--dryrun", "-c", "-x", "cu", os.devnull])
    top = re.search(r"^#\$ TOP=(.+)$", said, re.MULTILINE)
    return Path(top.group(1)).resolve() if top else None


def _wheels() -> list[Path]:
    """Folders such as ``site-packages/nvidia/cu13``, newest first. Older wheels have no nvcc."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(path) for path in spec.submodule_search_locations or ()] if spec else []
    found = [home for folder in folders for home in folder.glob("cu*") if (home / "bin" / "nvcc").exists()]
    return sorted((home.resolve() for home in found), key=lambda home: home.name, reverse=True)


def cuda_home() -> Path | None:
    """Links resolved; None without a toolkit."""
    found = find_toolkit()
    return found.home if found else None


def not_executable(home: Path) -> list[Path]:
    """Unpacking a wheel without pip can lose the right to execute."""
    there = (home / name for name in PROGRAMS)
    return [program for program in there if program.exists() and not program.stat().st_mode & 0o111]


def _allow_executing(toolkit: Toolkit) -> None:
    """Boxes run as another user. `grader doctor` reports files that are not ours."""
    with suppress(OSError):
        for program in not_executable(toolkit.home) if toolkit.found == WHEELS else ():
            program.chmod(program.stat().st_mode | 0o111)


@functools.cache
def nvcc_version() -> str | None:
    """Such as ``13.0.88``; None if it does not run."""
    found = find_toolkit()
    if found is None:
        return None
    _allow_executing(found)
    said = re.search(r"\bV(\d+(?:\.\d+)+)", _output([str(found.nvcc), "--version"]))
    return said.group(1) if said else None


def refusal() -> str:
    """Why nvcc cannot compile here, for example an unknown g++; empty if it can."""
    found = find_toolkit()
    if found is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "out.o"
        said = _output([str(found.nvcc), "-c", "-x", "cu", "-arch=compute_80", "-o", str(made), os.devnull])
        return "" if made.exists() else (said.strip().splitlines() or ["nothing"])[0]


def _output(command: list[str]) -> str:
    """Of both streams; empty if it does not start or end."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
