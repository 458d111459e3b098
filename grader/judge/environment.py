"""The part of a report about the judging machine."""

from __future__ import annotations

import functools
import platform
from pathlib import Path

from grader import __version__
from grader.device_kinds import kind_of


@functools.cache
def cpu_model() -> str:
    """The architecture if the name is unknown."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


@functools.cache
def judge_environment() -> dict[str, str]:
    import torch

    return {**machine_environment(), "judge_torch": str(torch.__version__)}


@functools.cache
def driver_environment(board: str) -> dict[str, str]:
    """Cached: the driver cannot change while a process uses a GPU."""
    gpus = kind_of(board).gpus
    return {} if gpus is None else {"driver": gpus.driver_version()}


@functools.cache
def machine_environment() -> dict[str, str]:
    return {
        "grader": __version__,
        "judge_python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": cpu_model(),
    }
