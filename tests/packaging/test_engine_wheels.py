"""Wheels with the emulated GPU's engine: for both kinds of processor, and one used without a C compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.components import need
from tests.packaging.test_wheel import build, install

pytestmark = pytest.mark.in_turn("engine wheels")
ROOT = Path(__file__).resolve().parents[2]
PREBUILT = "grader/sandbox/emulator/prebuilt/"
# e_machine of an ELF header, at byte 18.
MACHINES = {"x86_64": 62, "aarch64": 183}
FILES = {"x86_64": {"host", "libengine.so", "libengine-v3.so"}, "aarch64": {"host", "libengine.so"}}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Processor -> wheel. Nothing runs the engine of the other processor, so the compiler need not optimise it."""
    need("zig")

    def made(machine: str) -> Path:
        flags = "" if machine == os.uname().machine else "-O0"
        folder = tmp_path_factory.mktemp(machine)
        return build(ROOT, folder, "--wheel", platform=f"linux-{machine}", flags=flags)

    return {machine: made(machine) for machine in MACHINES}


def test_each_wheel_has_an_engine_for_its_processor(wheels: dict[str, Path]) -> None:
    for machine, wheel in wheels.items():
        assert wheel.name.endswith(f"-py3-none-manylinux_2_28_{machine}.whl")
        with zipfile.ZipFile(wheel) as archive:
            made = {
                name.removeprefix(PREBUILT): archive.read(name)
                for name in archive.namelist()
                if PREBUILT in name
            }
        assert made.keys() == FILES[machine]
        for name, data in made.items():
            assert data[:4] == b"\x7fELF", name
            assert int.from_bytes(data[18:20], "little") == MACHINES[machine], name


def test_approximations_are_the_engines_own(wheels: dict[str, Path], tmp_path: Path) -> None:
    """C libraries differ in the last bit, which would make times and verdicts differ."""
    need("emulator")
    with zipfile.ZipFile(wheels["x86_64"]) as archive:
        archive.extract(f"{PREBUILT}libengine.so", tmp_path)
    listing = subprocess.run(
        ["nm", "-D", "--undefined-only", tmp_path / PREBUILT / "libengine.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    needed = {line.split()[-1].partition("@")[0] for line in listing.splitlines()}
    assert needed & {"sinf", "cosf", "exp2f", "log2f", "tanhf"} == set()
    assert "calloc" in needed


def test_a_kernel_is_judged_without_a_compiler(wheels: dict[str, Path], tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    bin_folder = tmp_path / "venv" / "bin"
    install(bin_folder / "python", wheels[os.uname().machine])
    (site,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (site / "third_party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    kernel = tmp_path / "vector_add.py"
    kernel.write_bytes((ROOT / "reference" / "vector_add" / "staff" / "solution.py").read_bytes())

    def grader(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CC")}
        return subprocess.run(
            [str(bin_folder / "grader"), *words],
            env=environment | {"PATH": str(bin_folder)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    found = {
        finding["name"]: finding for finding in json.loads(grader("doctor", "--json").stdout)["findings"]
    }
    assert found["g++"]["level"] == "missing"
    assert found["emulated GPU"]["level"] == "ok"
    assert found["emulated GPU"]["text"].startswith(f"prebuilt, in this package: {site}")
    judged = grader("test", str(kernel), "--device", "emulated", "--box", "local", "--json")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert json.loads(judged.stdout)["verdict"] == "accepted"
