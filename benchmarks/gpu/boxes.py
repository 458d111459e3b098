"""Where the difference between boxes comes from: rounds of several boxes, each bound several times to the same memory.

Each box has a context and a page for its gate of its own; a new binding maps the arrays anew. For a control and for
the staff's CUDA vector_add: by how much midmeans of G differ from binding to binding in one box, and from box to box,
beside what chance makes of so many rounds (standard deviations, microseconds).

Usage: python benchmarks/gpu/boxes.py [--json] [--gpu N] [--boxes N] [--bindings N] [--rounds N]
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import keep
from subjects import narrowed

from grader.challenge.catalogue import find_catalogue
from grader.challenge.signature import cuda_footer
from grader.judge.device import make_device
from grader.judge.launch import Launcher
from grader.judge.request import Request
from grader.judge.timing import Stopwatch
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.choose import make_boxes
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from grader.scoring import midmean, midmean_error

WORKLOAD = "200 million and 3"


def measure(options: argparse.Namespace) -> dict[str, list[list[list[float]]]]:
    """Of a control and a submission: microseconds of G (less the known length) by box, binding and round."""
    tune()
    device, maker = make_device("h200", options.gpu), make_boxes("local")
    count = options.rounds
    changed = replace(device.plan, rounds=count, most_rounds=count, control_rounds=count)
    device.plan = changed  # type: ignore[misc]
    catalogue = find_catalogue()
    whole = catalogue.load("vector_add")
    workload = next(it for it in whole.manifest.workloads if it.name == WORKLOAD)
    challenge = narrowed(whole, [workload])
    source = (catalogue.root / "reference/vector_add/staff/solution.cu").read_text()
    footer = cuda_footer(challenge.manifest)
    artefact = compile_cuda(maker, CompileRequest(source, footer, arch=device.architecture)).artefact
    found: dict[str, list[list[list[float]]]] = {"control": [], "vector_add": []}
    for box in range(options.boxes):
        for name, series in found.items():
            request = Request(challenge, Language.CUDA, source, device.name, os.urandom(32), [])
            launcher = Launcher(request, device, maker, lambda: None, artefact)
            try:
                client = launcher.control() if name == "control" else launcher.submission()
                series.append([])
                for binding in range(options.bindings):
                    watch = Stopwatch(challenge, workload, request.seed_key, device, f"{box} {binding}")
                    if name == "control":
                        gates = [it.gate - known for it, known in watch.control(client)]
                    else:
                        gates = [it.gate for it in watch.own(client).rounds]
                    series[-1].append([it * 1e6 for it in gates])
            finally:
                launcher.close()
        print("  ".join(f"{name} {_line(series[-1])}" for name, series in found.items()), flush=True)
    maker.reap()
    return found


def _line(bindings: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{midmean(it):.2f}" for it in bindings)


def components(series: Sequence[Sequence[Sequence[float]]]) -> dict[str, float]:
    """Standard deviations: of chance, and what bindings and boxes add to it (0 where they seem to add nothing)."""
    chance = statistics.fmean(midmean_error(one) ** 2 for box in series for one in box)
    middles = [[midmean(one) for one in box] for box in series]
    within = statistics.fmean(statistics.variance(box) for box in middles)
    between = statistics.variance([statistics.fmean(box) for box in middles])
    added = {"bindings": within - chance, "boxes": between - within / len(middles[0])}
    return {
        "chance": round(math.sqrt(chance), 3),
        **{name: round(math.sqrt(max(0.0, it)), 3) for name, it in added.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--boxes", type=int, default=10)
    parser.add_argument("--bindings", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    found = measure(options)
    rows: list[dict[str, Any]] = []
    for name, series in found.items():
        row = {"of": name, **components(series)}
        print(row, flush=True)
        packed = [[" ".join(f"{it:.2f}" for it in one) for one in box] for box in series]
        rows.append({**row, "us": packed})
    if options.json:
        keep("boxes", {"workload": f"vector_add {WORKLOAD}", "rounds": options.rounds, "rows": rows})


if __name__ == "__main__":
    main()
