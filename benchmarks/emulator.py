"""How fast the emulated GPU runs, with its checker and without: kernels of known size, and every challenge's suite.

Targets, on two cores with the checker on: vector_add of 2^20 elements in 60 ms, a tiled matmul of 512^3 in 1.5 s, the
public cases of each challenge in 6 s, half of them in 1.5 s.

Usage: python benchmarks/emulator.py [--json]
"""

from __future__ import annotations

import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from results import keep

from grader.challenge.catalogue import find_catalogue
from grader.sandbox.emulator.engine import Engine, pack_arguments
from grader.sandbox.toolkit import cuda_home
from tests.emulator.judging import compile_source, judge

THREADS, ROUNDS = 2, 5
SOURCE = """
extern "C" __global__ void vector_add(const float* a, const float* b, float* o, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i] + b[i];
}
extern "C" __global__ void matmul(const float* a, const float* b, float* o, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int at = 0; at < n; at += 16) {
        left[y][x] = a[row * n + at + x];
        right[y][x] = b[(at + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    o[row * n + column] = sum;
}
"""
TARGETS = {"vector_add_2^20_ms": 60.0, "matmul_512_ms": 1500.0, "slowest_suite_s": 6.0, "median_suite_s": 1.5}


def kernels(folder: Path, check: bool) -> dict[str, float]:
    """Median milliseconds of a launch."""
    home = cuda_home()
    assert home is not None
    (folder / "k.cu").write_text(SOURCE)
    command = [
        home / "bin" / "nvcc",
        "-ptx",
        "-O3",
        "-arch=compute_90a",
        "-o",
        folder / "k.ptx",
        folder / "k.cu",
    ]
    subprocess.run(command, check=True)
    engine = Engine(THREADS)
    engine.check = check
    loaded = engine.load((folder / "k.ptx").read_text())
    drawn = np.random.default_rng(1).standard_normal((3, 1 << 20)).astype("f4")
    addresses = [
        engine.adopt(array.ctypes.data, array.nbytes, written=index < 2, keep=array)
        for index, array in enumerate(drawn)
    ]
    found = {}
    for name, number, grid, block in (
        ("vector_add", struct.pack("<q", 1 << 20), (4096, 1, 1), (256, 1, 1)),
        ("matmul", struct.pack("<i", 512), (32, 32, 1), (16, 16, 1)),
    ):
        layout = engine.ready(loaded, name).param_layout
        params = pack_arguments(layout, [*(struct.pack("<Q", address) for address in addresses), number])
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            engine.launch(loaded, name, grid, block, params)
            times.append(1e3 * (time.perf_counter() - began))
        found[name] = round(statistics.median(times), 2)
    engine.close()
    return found


def suites(folder: Path) -> dict[str, float]:
    """Seconds of all public cases of each challenge's CUDA solution: calls alone, nvcc and references not counted."""
    catalogue, found = find_catalogue(), {}
    for slug in catalogue.slugs():
        source = catalogue.root / "reference" / slug / "staff" / "solution.cu"
        if source.exists():
            challenge = catalogue.load(slug)
            outcome = judge(challenge, compile_source(challenge, source, folder), THREADS)
            found[slug] = round(sum(outcome.seconds.values()), 3)
            print(
                f"{slug:<24} {found[slug]:7.3f} s  {'right' if not outcome.wrong else outcome.wrong}",
                flush=True,
            )
    return found


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as name:
        folder = Path(name)
        checked, unchecked = kernels(folder, check=True), kernels(folder, check=False)
        seconds = suites(folder)
    measured = {
        "vector_add_2^20_ms": checked["vector_add"],
        "matmul_512_ms": checked["matmul"],
        "slowest_suite_s": max(seconds.values()),
        "median_suite_s": statistics.median(seconds.values()),
    }
    for what, value in measured.items():
        print(
            f"{what:<24} {value:8.2f}  target {TARGETS[what]:g} {'met' if value <= TARGETS[what] else 'MISSED'}"
        )
    print(f"without the checker: vector_add {unchecked['vector_add']} ms, matmul {unchecked['matmul']} ms")
    if "--json" in sys.argv:
        keep(
            "emulator",
            {
                "threads": THREADS,
                **measured,
                "unchecked_ms": unchecked,
                "suites_s": seconds,
                "targets": TARGETS,
            },
        )
    return int(any(value > TARGETS[what] for what, value in measured.items()))


if __name__ == "__main__":
    sys.exit(main())
