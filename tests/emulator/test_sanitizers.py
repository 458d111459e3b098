"""The engine under AddressSanitizer and UBSan: tests of instructions, modules that no compiler made, and one
failure of each allocation. A sanitizer's finding ends the process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.components import need

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "sandbox" / "emulator" / "build.sh"
FLAGS = "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -DALLOCATIONS_FAIL"
# Ten seconds. `python -m tests.emulator.sanitized fuzz` takes others.
FUZZ_SEED, FUZZED_MODULES = 37, 3000

# Three to five times as slow as without them, and a machine may be busy.
TEST_SECONDS = 1500

pytestmark = [pytest.mark.in_turn("sanitizers"), pytest.mark.timeout(TEST_SECONDS + 100)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("emulator")
    if shutil.which("gcc") is None:
        pytest.skip("no gcc, which brings the sanitizers")
    folder = tmp_path_factory.mktemp("sanitized")
    environment = {**os.environ, "CC": "gcc", "CFLAGS": FLAGS}
    subprocess.run(["sh", str(BUILD), str(folder)], env=environment, check=True, timeout=600)
    return folder / "libengine.so"


def sanitized(library: Path, *command: str) -> str:
    found = [
        subprocess.run(
            ["gcc", f"-print-file-name={library}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for library in ("libasan.so", "libstdc++.so")
    ]
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(found),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "SANITIZED_ENGINE": str(library),
    }
    ran = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TEST_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, f"{ran.stdout[-3000:]}\n{ran.stderr[-6000:]}"
    return ran.stdout


def test_sanitizers_find_nothing_in_the_instruction_tests(library: Path) -> None:
    files = (
        "instructions",
        "arithmetic",
        "matrices",
        "strange_ptx",
        "counts",
        "counted",
        "requests",
        "limits",
        "writers",
    )
    tests = [f"tests/emulator/test_{file}.py" for file in files]
    # Only the sanitizers write to stderr.
    options = ["-q", "-x", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.emulator.sanitized"]
    # A minute alone, of code that the others run, too.
    options += ["-k", "not beyond_the_cache"]
    assert " passed" in sanitized(library, "-m", "pytest", *options, *tests)


def test_sanitizers_find_nothing_in_handwritten_modules(library: Path) -> None:
    words = ("tests.emulator.sanitized", "fuzz", str(FUZZ_SEED), str(FUZZED_MODULES))
    print("python -m", *words)
    said = sanitized(library, "-m", *words)
    assert int(said.split()[0]) > FUZZED_MODULES / 4, "modules that were run"


def test_a_launch_that_runs_out_of_memory_fails_cleanly(library: Path) -> None:
    said = sanitized(library, "-m", "tests.emulator.sanitized", "allocations")
    assert int(said.split()[0]) >= 10, "allocations of which each failed once"
