"""Measures constants of the emulated GPU's model on a card: cycles of shared memory's atomics, loads and stores by how
lanes meet, of memory's answers, and of barriers (``rates.cu``); microseconds of reads and copies by size, by what L2
holds before, and by what is under way (``streams.cu``).

    python benchmarks/gpu/rates.py --json             on a card's machine, with nvcc
    python benchmarks/gpu/rates.py --streams --json   the same, of memory
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import keep

from grader.sandbox.toolkit import cuda_home

# Programs, and the names of what their rows say after ``what``.
COLUMNS = {"rates": ("warps", "cycles"), "streams": ("mib", "us")}
ARCHITECTURE = "sm_90a"
PATIENCE_SECONDS = 120.0


def measure(name: str, gpu: int) -> list[dict[str, str | int | float]]:
    """``name``: a key of ``COLUMNS``. Raises SystemExit without nvcc, CalledProcessError if the program fails."""
    home = cuda_home()
    if home is None:
        raise SystemExit("no nvcc: put it on the path, or set CUDA_HOME")
    with TemporaryDirectory(prefix="grader-rates-") as folder:
        program, source = Path(folder, name), Path(__file__).resolve().with_name(f"{name}.cu")
        subprocess.run(
            [home / "bin" / "nvcc", "-O3", "-std=c++17", f"-arch={ARCHITECTURE}", "-o", program, source],
            check=True,
        )
        environment = {"CUDA_VISIBLE_DEVICES": str(gpu), **os.environ}
        ran = subprocess.run(
            [program], check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment
        )
    rows: list[dict[str, str | int | float]] = []
    whole, real = COLUMNS[name]
    for line in ran.stdout.splitlines():
        what, number, found = line.split("\t")
        rows.append({"what": what, whole: int(number), real: float(found)})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--streams", action="store_true", help="of memory")
    parser.add_argument("--json", action="store_true", help="keep what was found")
    options = parser.parse_args()
    name = "streams" if options.streams else "rates"
    rows = measure(name, options.gpu)
    whole, real = COLUMNS[name]
    for row in rows:
        print(f"{row['what']:40} {row[whole]:5} {whole} {row[real]:10} {real}")
    if options.json:
        keep(f"{name}_card", {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
