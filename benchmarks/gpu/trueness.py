"""Whether the judge's time is the time: beside it, for the same solutions and sizes,

- ``inside``: CUDA events that an instrumented copy of the solution records inside the very rounds that are judged;
- ``cold``: events in a process of its own, one call at a time, L2 flushed, the launch hidden (see ``honest.py``);
- ``events``: events around calls back to back, nothing flushed;
- ``ncu``: `ncu`'s gpu__time_duration, clocks left alone, caches flushed by it; where it is on the PATH.

Target: the judge's time within 2 % of ``inside`` (``cold`` where there is none) and of ``ncu`` at ranked sizes.

Usage: python benchmarks/gpu/trueness.py [--json] [--quick] [--box local|docker] [--device h200|cpu]
"""

from __future__ import annotations

import argparse
import csv
import io
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradings import Ahead, Steps, box_specs, grade
from honest import PROFILED
from results import keep
from subjects import Subject, honest, subjects, task, workloads

from grader.challenge.model import Workload
from grader.judge.device import Device, make_device
from grader.judge.request import CPU
from grader.judge.roofline import is_ranked
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes

TARGET = 0.02
WAYS = ("inside", "cold", "events", "ncu")
NCU = ("ncu", "--profile-from-start", "off", "--clock-control", "none", "--metrics", "gpu__time_duration.sum")
NCU_OUTPUT = ("--csv", "--page", "raw", "--print-units", "base")
# The first calls of a workload are warm-up, and slower.
SKIPPED = 6
# Appended to a Triton solution: each call writes what the call before it took, so that it never waits for one.
INSTRUMENT = """

import time as _time
import torch as _torch

_solve, _state, _gpu = solve, {{}}, _torch.cuda.is_available()


def solve(*arguments):
    if not _state:
        _state["events"] = [_torch.cuda.Event(enable_timing=True) for _ in range(2)] if _gpu else []
    elif _gpu and _state["events"][1].query():
        _state["us"] = _state["events"][0].elapsed_time(_state["events"][1]) * 1e3
    if "us" in _state:
        with open({path!r}, "a") as file:
            file.write(f"{{_state['sizes']}} {{_state.pop('us')}}\\n")
    _state["sizes"] = ",".join(str(argument) for argument in arguments if isinstance(argument, int))
    if _gpu:
        _state["events"][0].record()
        _solve(*arguments)
        _state["events"][1].record()
    else:
        began = _time.perf_counter()
        _solve(*arguments)
        _state["us"] = (_time.perf_counter() - began) * 1e6
"""
# (subject, workload) -> way -> microseconds
Times = dict[tuple[str, str], dict[str, float]]


def judged(subject: Subject, some: list[Workload], device: Device, boxes: BoxMaker, times: Times) -> None:
    for workload in grade(subject, some, device, boxes).workloads:
        times[subject.name, workload.name].update(
            judge=workload.time_us, charged=workload.charged_us, gated=float(workload.gated)
        )


def inside(
    subject: Subject, some: list[Workload], device: Device, boxes: BoxMaker, folder: Path, times: Times
) -> None:
    """The judge's time of an instrumented copy, and what its own events said in the same rounds."""
    path = folder / f"{subject.slug}.times"
    source = subject.source + INSTRUMENT.format(path=str(path))
    report = grade(subject, some, device, boxes, source)
    lines = [line.split() for line in path.read_text().splitlines()]
    for workload in report.workloads:
        sizes = ",".join(str(workload.sizes[name]) for name in subject.challenge.manifest.sizes)
        found = [float(us) for key, us in lines if key == sizes][SKIPPED:]
        if found:
            times[subject.name, workload.name].update(
                inside=statistics.median(found), judge_inside=workload.time_us, inside_calls=float(len(found))
            )


def outside(tasks: list[Any], folder: Path, times: Times) -> None:
    for subject, by_workload in honest(tasks, ("cold", "events"), folder).items():
        for workload, by_method in by_workload.items():
            times[subject, workload].update(by_method)


def profiled(tasks: list[Any], folder: Path, times: Times) -> None:
    """One run of ncu for all: every call launches one kernel, so the lines come in the order of the calls."""
    said = honest(tasks, ("profile",), folder, *NCU, *NCU_OUTPUT)[""]
    nanoseconds = durations(said)
    keys = [(task["name"], workload) for task in tasks for workload in task["workloads"]]
    if len(nanoseconds) != PROFILED * len(keys):
        raise RuntimeError(
            f"ncu told of {len(nanoseconds)} kernels, not {PROFILED} of {len(keys)}: {said[-1500:]}"
        )
    for place, key in enumerate(keys):
        some = nanoseconds[PROFILED * place : PROFILED * (place + 1)]
        times[key]["ncu"] = statistics.median(some) * 1e-3


def durations(said: str) -> list[float]:
    """Nanoseconds of each kernel in ncu's table; what the program or ncu printed besides is left out."""
    lines = said.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    table = "\n".join(line for line in lines[start:] if line.startswith('"'))
    rows = csv.DictReader(io.StringIO(table))
    # A second line holds the units: it has no ID.
    return [float(row["gpu__time_duration.sum"].replace(",", "")) for row in rows if row["ID"].strip()]


def table(times: Times, ranked: set[tuple[str, str]]) -> tuple[list[dict[str, Any]], bool]:
    """Prints the judge's time and its ratio to every other; returns the rows, and whether the target is met."""
    rows: list[dict[str, Any]] = []
    met = True
    print(
        f"\n{'subject':<22}{'workload':<20}{'judge us':>11}"
        + "".join(f"{'judge/' + way:>15}" for way in WAYS)
    )
    for key, found in times.items():
        if "judge" not in found:
            continue
        ratios = {way: found["judge"] / found[way] for way in WAYS if found.get(way)}
        if "inside" in ratios:  # the same rounds, or it would compare two gradings
            ratios["inside"] = found["judge_inside"] / found["inside"]
        decisive = [
            ratios[way] for way in ("inside" if "inside" in ratios else "cold", "ncu") if way in ratios
        ]
        within = all(abs(ratio - 1.0) <= TARGET for ratio in decisive)
        met = met and (within or key not in ranked)
        word = ("met" if within else "MISSED") if key in ranked else "not ranked"
        cells = "".join(f"{ratios[way]:>15.4f}" if way in ratios else f"{'-':>15}" for way in WAYS)
        print(f"{key[0]:<22}{key[1]:<20}{found['judge']:>11.2f}{cells}  {word}")
        rows.append(
            {
                "subject": key[0],
                "workload": key[1],
                "ranked": key in ranked,
                "times_us": {name: round(value, 3) for name, value in found.items()},
                "judge_over": {name: round(value, 5) for name, value in ratios.items()},
            }
        )
    return rows, met


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="ranked workloads only, without ncu")
    parser.add_argument("--box", default="auto")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    options = parser.parse_args()
    steps, times = Steps(), defaultdict[tuple[str, str], dict[str, float]](dict)
    device, maker = make_device(options.device, options.gpu), make_boxes(options.box)
    device.use_ceilings(dict(device.ceilings()))
    chosen = {
        subject: workloads(subject.challenge, device, ranked_only=options.quick)
        for subject in subjects(device)
    }
    # Only a plain process can leave its times where we find them.
    plain = make_boxes("local")
    boxes, open_boxes = Ahead(maker), Ahead(plain)
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as made_folder:
        folder = Path(made_folder)
        try:
            triton = [subject for subject in chosen if subject.language is Language.TRITON]
            steps.attempt("boxes", boxes.prepare, box_specs(device, chosen))
            steps.attempt("plain boxes", open_boxes.prepare, box_specs(device, triton))
            for subject, some in chosen.items():
                steps.attempt(subject.name, judged, subject, some, device, boxes, times)
                if subject in triton:
                    name = f"{subject.name}, instrumented"
                    steps.attempt(name, inside, subject, some, device, open_boxes, folder, times)
        finally:
            boxes.close()
            open_boxes.close()
            maker.reap()
        if device.name != CPU:
            made = [
                steps.attempt(
                    f"{subject.name} for another process", task, subject, some, device, plain, folder
                )
                for subject, some in chosen.items()
            ]
            tasks = [run for run in made if run is not None]
            steps.attempt("events in another process", outside, tasks, folder, times)
            if shutil.which("ncu") and not options.quick:
                steps.attempt("ncu", profiled, tasks, folder, times)
    ranked = {
        (subject.name, one.name)
        for subject, some in chosen.items()
        for one in some
        if is_ranked(subject.challenge.manifest, one, device)
    }
    rows, met = table(times, ranked)
    print(f"{maker.name} boxes, {steps.seconds:.0f} s in all; target: within {TARGET:.0%} at ranked sizes")
    for failure in steps.failures:
        print(f"FAILED {failure}")
    if options.json:
        keep("trueness", {"boxes": maker.name, "target": TARGET, "rows": rows, "failures": steps.failures})
    return 0 if met and not steps.failures else 1


if __name__ == "__main__":
    sys.exit(main())
