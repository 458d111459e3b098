"""The emulated GPU in this process, and sources that nvcc compiles once a session."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.sandbox.emulator.device import Device
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.toolkit import cuda_home
from tests.components import need
from tests.emulator.judging import NVCC_FLAGS

FOLDER = Path(__file__).parent
Compile = Callable[[Path], Path]


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    need("emulator")


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(threads=2)
    yield made
    made.close()


@pytest.fixture
def device(engine: Engine) -> Device:
    return Device(engine)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    home, made = cuda_home(), {}
    need("nvcc")
    assert home is not None

    def compile_source(source: Path) -> Path:
        if source not in made:
            made[source] = tmp_path_factory.mktemp("emulator") / f"{source.stem}.so"
            command = [
                home / "bin" / "nvcc",
                "-shared",
                "-Xcompiler",
                "-fPIC",
                "-O3",
                "-std=c++17",
                "-lineinfo",
                "-Xcompiler",
                "-g1,-fno-optimize-sibling-calls",
            ]
            ran = subprocess.run(
                [*command, *NVCC_FLAGS, "-o", made[source], source],
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode == 0, ran.stderr
        return made[source]

    return compile_source
