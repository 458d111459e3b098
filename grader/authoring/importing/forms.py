"""The forms of problems, each read by the module of its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Form:
    """``solution``: a name that published solutions define."""

    words: str
    is_here: Callable[[Path], bool]
    solution: str


def _holds(path: Path, name: str, words: str = "") -> bool:
    file = path / name if path.is_dir() else path
    return file.name == name and file.is_file() and words in file.read_text("utf-8", errors="replace")


def _is_of_kernelbench(path: Path) -> bool:
    return path.is_file() and path.suffix == ".py" and _holds(path, path.name, "get_init_inputs")


# Tried in this order.
FORMS = {
    "gpumode": Form("a task of GPU MODE (task.yml)", lambda path: _holds(path, "task.yml"), "custom_kernel"),
    "leetgpu": Form("a folder of LeetGPU (challenge.py)", lambda path: _holds(path, "challenge.py"), "solve"),
    "tensara": Form(
        "a folder of Tensara (def.py)", lambda path: _holds(path, "def.py", "reference_solution"), "solution"
    ),
    "kernelbench": Form(
        "a file of KernelBench (Model, get_inputs, get_init_inputs)", _is_of_kernelbench, "ModelNew"
    ),
}
