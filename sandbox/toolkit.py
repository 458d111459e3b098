"""Where this host's CUDA toolkit is, and which: an installed one, or NVIDIA's wheels (the extra ``cuda``)."""

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
# Where NVIDIA's installers put it.
CONVENTIONAL = "/usr/local/cuda"
# How a toolkit was found that is NVIDIA's wheels.
WHEELS = "Python packages"
# What nvcc starts, by their folder in a toolkit.
PROGRAMS = ("bin/nvcc", "bin/cudafe++", "bin/ptxas", "bin/fatbinary", "bin/nvlink", "nvvm/bin/cicc")
_SECONDS = 20


@dataclass(frozen=True)
class Toolkit:
    """``home``: its folder, links resolved. ``found``: by what, such as ``CUDA_HOME``."""

    home: Path
    found: str

    @property
    def nvcc(self) -> Path:
        return self.home / "bin" / "nvcc"


def find_toolkit() -> Toolkit | None:
    """The first of: CUDA_HOME, CUDA_PATH, nvcc on the PATH, /usr/local/cuda, wheels among this Python's packages."""
    return next((it for it in _candidates() if it.nvcc.exists()), None)


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
    """The toolkit of ``nvcc``, which may be a link or a script that starts the real one: the program says so itself."""
    folder = Path(nvcc).resolve().parent
    if (folder / "nvcc.profile").exists():
        return folder.parent
    said = _output([nvcc, "--dryrun", "-c", "-x", "cu", os.devnull])
    told = re.search(r"^#\$ TOP=(.+)$", said, re.MULTILINE)
    return Path(told.group(1)).resolve() if told else None


def _wheels() -> list[Path]:
    """Toolkits that the wheels nvidia-cuda-nvcc, nvidia-nvvm, ... made, such as ``site-packages/nvidia/cu13``, the
    newest first. Older families of wheels have a folder for each part, and no nvcc."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(it) for it in spec.submodule_search_locations or ()] if spec else []
    found = [it for folder in folders for it in folder.glob("cu*") if (it / "bin" / "nvcc").exists()]
    return sorted((it.resolve() for it in found), key=lambda it: it.name, reverse=True)


def cuda_home() -> Path | None:
    """The folder of the CUDA toolkit, links resolved; None without one."""
    found = find_toolkit()
    return found.home if found else None


def not_executable(home: Path) -> list[Path]:
    """Programs of the toolkit that nobody may execute: pip keeps that permission, unpacking a wheel may lose it."""
    there = (home / name for name in PROGRAMS)
    return [it for it in there if it.exists() and not it.stat().st_mode & 0o111]


def _allow_executing(toolkit: Toolkit) -> None:
    """By all: boxes are another user. Where the files are not ours, `grader doctor` says what is missing."""
    with suppress(OSError):
        for program in not_executable(toolkit.home) if toolkit.found == WHEELS else ():
            program.chmod(program.stat().st_mode | 0o111)


@functools.cache
def nvcc_version() -> str | None:
    """Version of the CUDA compiler, such as ``13.0.88``; None without one that runs."""
    found = find_toolkit()
    if found is None:
        return None
    _allow_executing(found)
    said = re.search(r"\bV(\d+(?:\.\d+)+)", _output([str(found.nvcc), "--version"]))
    return said.group(1) if said else None


def refusal() -> str:
    """What nvcc says where it compiles nothing on this host, such as that it does not know this g++; else empty."""
    found = find_toolkit()
    if found is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "out.o"
        said = _output([str(found.nvcc), "-c", "-x", "cu", "-arch=compute_80", "-o", str(made), os.devnull])
        return "" if made.exists() else (said.strip().splitlines() or ["nothing"])[0]


def _output(command: list[str]) -> str:
    """What it prints to either stream; nothing where it does not start, or does not end."""
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
