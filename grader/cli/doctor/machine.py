"""Of this machine: Python, system, what judging needs of packages and toolkits, the GPU."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys

from grader import __version__
from grader.cli.doctor.finding import Finding, Mark
from grader.errors import GraderError


def python() -> Finding:
    return Finding(
        "python", Mark.OK, f"{platform.python_version()} at {sys.executable}, grader {__version__}"
    )


def system() -> Finding:
    told = f"{platform.system()} on {platform.machine()}"
    if platform.system() == "Linux":
        return Finding("system", Mark.OK, told)
    return Finding(
        "system",
        Mark.MISSING,
        told,
        "Submit to a server; judging and running one need Linux.",
        "test, up, worker",
    )


def package(name: str, for_what: str) -> Finding:
    if importlib.util.find_spec(name) is None:
        return Finding(name, Mark.MISSING, "not installed", "pip install 'kernel-grader[worker]'", for_what)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding(name, Mark.OK, version(name))
    except PackageNotFoundError:
        return Finding(name, Mark.OK, "found")


def gpu() -> Finding:
    smi = shutil.which("nvidia-smi")
    query = ["--query-gpu=name,driver_version", "--format=csv,noheader"]
    if smi is None or not (found := _first_line([smi, *query])):
        return Finding(
            "gpu", Mark.NOTE, "none: Triton runs in its interpreter, CUDA can be compiled only", ""
        )
    if unfit := _unfit_for_judging():
        return Finding("gpu", Mark.MISSING, f"{found}; {unfit[0]}", unfit[1], "judging on it")
    return Finding("gpu", Mark.OK, found)


def _unfit_for_judging() -> tuple[str, str] | None:
    """What a GPU here lacks for the arena or the gate, and the mend. Asks the driver; makes no context."""
    from grader.judge.cuda.driver import NEEDS_MEND, DriverError, lacking
    from grader.sandbox.gpu import find_gpus

    try:
        for gpu in find_gpus():
            if missing := lacking(gpu.index):
                return f"GPU {gpu.index} lacks {', '.join(missing)}", NEEDS_MEND
    except DriverError as error:
        return f"the driver does not answer: {error.name}", "See `nvidia-smi` and the kernel's log."
    except GraderError as error:
        return error.message, error.hint
    return None


def nvcc() -> Finding:
    from grader.sandbox.toolkit import cuda_home

    home = cuda_home()
    if home is None:
        return Finding(
            "nvcc", Mark.MISSING, "no CUDA toolkit", "Install it, or set CUDA_HOME.", "judging CUDA"
        )
    last = _last_line([str(home / "bin" / "nvcc"), "--version"])
    return Finding("nvcc", Mark.OK, f"{home}: {last}")


def _first_line(command: list[str]) -> str:
    return (_lines(command) or [""])[0]


def _last_line(command: list[str]) -> str:
    return (_lines(command) or ["it does not run"])[-1]


def _lines(command: list[str]) -> list[str]:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in ran.stdout.splitlines() if line.strip()]
