"""Wall clocks of processes that a small preloaded library (clock.c) can step, if there is a compiler."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")


def build_library(folder: Path) -> Path | None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    built = folder / "clock.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(built), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return built


class Clock:
    """The wall clock of the processes that get ``env``."""

    def __init__(self, library: Path, file: Path) -> None:
        self._file = file
        file.write_bytes(struct.pack("q", 0))
        self.env = {"LD_PRELOAD": str(library), "FAULTS_CLOCK": str(file)}

    def step(self, seconds: int) -> None:
        with self._file.open("r+b") as file:
            file.write(struct.pack("q", seconds))
