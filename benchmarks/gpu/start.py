"""Where the seconds of a box's start go: containers, imports, bytecode, the GPU's context, Triton's own helper.

Boxes of each kind, one after the other, then several at once: seconds until the runner said hello, and its own
account of them. Also, in plain processes: the slowest imports, and how many files of torch and Triton have no
bytecode.

Usage: python benchmarks/gpu/start.py [--json] [--count N] [--box local|docker] [--device h200|cpu] [--gpu 0]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import keep

from grader import limits
from grader.judge.device import Device, make_device
from grader.judge.launch import submission_spec
from grader.judge.runner_client import RunnerClient
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.choose import make_boxes

SLOWEST = 25


def start(boxes: BoxMaker, spec: BoxSpec) -> tuple[Box, dict[str, float]]:
    """A box that said hello, the seconds until it did, and the processor time of all of it."""
    began = time.perf_counter()
    box = boxes.start(spec)
    connected = time.perf_counter() - began
    select.select([box.connection], [], [], limits.BOX_START_SECONDS)
    whole = time.perf_counter() - began
    return box, {"whole": whole, "connected": connected, "processor": box.cpu_seconds()}


def heard(box: Box, device: Device) -> dict[str, float]:
    """The runner's own account."""
    client = RunnerClient(box, device)
    client.hello()
    client.close()
    return client.start_seconds


def starts(boxes: BoxMaker, device: Device, spec: BoxSpec, count: int, beside: int) -> dict[str, Any]:
    with ThreadPoolExecutor(beside) as threads:
        started = list(threads.map(lambda _: start(boxes, spec), range(count)))
    # Here: a client needs the GPU's context, which is this thread's.
    found = [{**seconds, **heard(box, device)} for box, seconds in started]
    names = list(dict.fromkeys(name for start in found for name in start))
    medians = {name: round(statistics.median(start.get(name, 0.0) for start in found), 3) for name in names}
    print(f"  {beside} at a time: " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in medians.items()))
    return {"median_s": medians, "all_s": [round(start["whole"], 3) for start in found]}


def slow_imports(words: str) -> list[tuple[float, str]]:
    """The slowest by what they take themselves, seconds, in a fresh process as a runner is one."""
    ran = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", "-c", words],
        capture_output=True,
        text=True,
        check=False,
        timeout=limits.BOX_START_SECONDS,
    )
    rows = [line.removeprefix("import time:").split("|") for line in ran.stderr.splitlines() if "|" in line]
    found = [(int(own) / 1e6, name.strip()) for own, _, name in rows if own.strip().isdigit()]
    print(f"  {words}: {sum(seconds for seconds, _ in found):.2f} s in {len(found)} modules")
    for seconds, name in sorted(found, reverse=True)[:SLOWEST]:
        print(f"    {seconds:6.3f} s {name}")
    return sorted(found, reverse=True)[:SLOWEST]


def without_bytecode(package: str) -> dict[str, int]:
    """Of a package's files, how many have no cached bytecode that a runner could load."""
    spec = importlib.util.find_spec(package)
    folder = Path((spec.origin if spec else "") or "").parent
    files = list(folder.rglob("*.py"))
    missing = sum(not Path(importlib.util.cache_from_source(str(file))).exists() for file in files)
    print(f"  {package} in {folder}: {missing} of {len(files)} files have no bytecode")
    return {"files": len(files), "without": missing}


def compiling() -> dict[str, float]:
    """What Triton's first compilations in a process take, seconds, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, str(Path(__file__).parent / "compiling.py")],
            capture_output=True,
            text=True,
            check=False,
            timeout=limits.BOX_START_SECONDS,
            env={**os.environ, "TRITON_CACHE_DIR": folder},
        )
    print(ran.stdout, ran.stderr[-2000:], flush=True)
    return dict(json.loads(ran.stdout.splitlines()[-1])) if ran.returncode == 0 else {}


def kinds(device: Device) -> dict[str, BoxSpec]:
    found = {
        language.value: submission_spec(device, language, limits.BOX_MEMORY_BYTES)
        for language in device.languages()
    }
    one: Sequence[Any] = device.languages()
    return {**found, "control": device.box_spec(BoxPurpose.CONTROL, one[-1], limits.BOX_MEMORY_BYTES)}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--box", default="auto")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    options = parser.parse_args()
    device, boxes = make_device(options.device, options.gpu), make_boxes(options.box)
    figures: dict[str, Any] = {"boxes": options.box, "count": options.count}
    for name, spec in kinds(device).items():
        print(name, flush=True)
        figures[name] = {
            f"{beside} at a time": starts(boxes, device, spec, options.count, beside)
            for beside in (1, options.count)
        }
    print("plain processes", flush=True)
    figures["bytecode"] = {module: without_bytecode(module) for module in ("torch", "triton")}
    figures["imports"] = {
        statement: slow_imports(statement) for statement in ("import torch", "import torch, triton.language")
    }
    if not device.on_processor:
        figures["compiling_s"] = compiling()
    if options.json:
        keep("gpu_start", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
