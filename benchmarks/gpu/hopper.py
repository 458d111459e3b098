"""Whether programs of sm_90 (``tests/emulator/hopper.cu``: mbarriers, clusters, bulk copies, tensors, wgmma) do on a
card what they do on the emulated GPU. Each compares itself with the host; what it computed exactly is
compared as a digest.

    python benchmarks/gpu/hopper.py --device emulated --json  anywhere
    python benchmarks/gpu/hopper.py --device card --json      on a machine with an H100 or H200, and nvcc
    python benchmarks/gpu/hopper.py --compare                 both kept
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import FOLDER, keep

from grader.sandbox.emulator.device import Device, HostProcess
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.toolkit import cuda_home
from tests.emulator.judging import HOPPER_PROGRAMS as PROGRAMS
from tests.emulator.judging import NVCC_FLAGS

NAME = "hopper"
SOURCE = Path(__file__).resolve().parents[2] / "tests" / "emulator" / "hopper.cu"
# Added to a program's number: it returns its digest, or the negated line of its first error.
DIGEST = 1000
# A process that lost the card gets no more answers, so each program has its own.
PATIENCE_SECONDS = 60


def compiled(folder: Path, device: str) -> Path:
    home = cuda_home()
    if home is None:
        raise SystemExit("no nvcc: put it on the path, or set CUDA_HOME")
    made = folder / "hopper.so"
    own = NVCC_FLAGS if device == "emulated" else ["-gencode=arch=compute_90a,code=sm_90a"]
    shared = ["-shared", "-Xcompiler", "-fPIC", "-O3", "-std=c++17", "-lineinfo"]
    subprocess.run([home / "bin" / "nvcc", *shared, *own, "-o", made, SOURCE], check=True)
    return made


def on_emulated(library: Path, number: int) -> int:
    engine = Engine()
    host = HostProcess(Device(engine), library)
    try:
        return host.call([struct.pack("<i", number + DIGEST)]).code
    finally:
        host.close()
        engine.close()


def on_card(library: Path, number: int) -> int | str:
    try:
        ran = subprocess.run(
            [sys.executable, __file__, "--call", str(library), str(number)],
            capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it hangs"
    return int(ran.stdout) if ran.returncode == 0 else f"it ended with {ran.returncode}: {ran.stderr[-200:]}"


def call(library: str, number: int) -> int:
    """Of this process, which has the card."""
    which = ctypes.c_int(number + DIGEST)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(which))
    return int(ctypes.CDLL(library).grader_entry(arguments))


def measure(device: str, as_json: bool) -> int:
    run: Callable[[Path, int], int | str] = on_emulated if device == "emulated" else on_card
    with TemporaryDirectory() as folder:
        library = compiled(Path(folder), device)
        rows = [{"program": name, "digest": run(library, number)} for number, name in enumerate(PROGRAMS)]
    for row in rows:
        print(f"{row['program']:28} {row['digest']}")
    if as_json:
        keep(f"{NAME}_{device}", {"rows": rows})
    return sum(not _is_right(row["digest"]) for row in rows)


def _is_right(digest: object) -> bool:
    return isinstance(digest, int) and digest >= 0


def compare() -> int:
    found: dict[str, dict[str, Any]] = {}
    for device in ("emulated", "card"):
        for file in sorted(FOLDER.glob(f"{NAME}_{device}-*.json")):
            rows = json.loads(file.read_text())["figures"]["rows"]
            found[device] = {row["program"]: row["digest"] for row in rows}
    if len(found) < 2:
        raise SystemExit("run it on both, with --json")
    different = 0
    for name in PROGRAMS:
        digests = [found[device].get(name) for device in ("emulated", "card")]
        same = digests[0] == digests[1] and _is_right(digests[0])
        different += not same
        print(f"{name:28} {'same' if same else f'emulated {digests[0]}, card {digests[1]}'}")
    return different


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("emulated", "card"), default="emulated")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--json", action="store_true", help="keep what was found")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--call", nargs=2, metavar=("LIBRARY", "NUMBER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", str(options.gpu))
    if options.call:
        print(call(options.call[0], int(options.call[1])))
        return 0
    return min(compare() if options.compare else measure(options.device, options.json), 1)


if __name__ == "__main__":
    raise SystemExit(main())
