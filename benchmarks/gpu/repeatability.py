"""How well a time repeats: the same solution graded again and again, each time in a new box with new data.

In the same run, in fresh processes: ``triton.testing.do_bench`` (median) and CUDA events without a gate. The figure
is the spread, max / min - 1. Targets: 0.2 % from 700 us on, 0.3 % from 400 us on.

--json also keeps the raw rounds of every grading, with the GPU's clocks. --inside has a Triton solution note each
call by its own events, which shows whether the kernel differed or the cost of a round; boxes must be plain processes.

Usage: python benchmarks/gpu/repeatability.py [--json] [--quick] [--count N] [--processes N] [--seconds S]
       [--box local|docker] [--device h200|cpu] [--only TEXT ...] [--inside] [--rounds N] [--control-rounds N]
       [--learn N]: first time N controls of each workload, so that what a round costs is known as on a machine in use
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradings import Ahead, Steps, box_specs, grade, spread
from raw_rounds import Recorded, packed
from results import keep
from subjects import Subject, honest, subjects, task, workloads
from trueness import INSTRUMENT

from grader.challenge.model import Workload
from grader.judge.device import Device, make_device
from grader.judge.kept_control import KeptControl
from grader.judge.launch import Launcher
from grader.judge.request import CPU, Request
from grader.judge.timekeeper import Reading, costs_name
from grader.judge.timing import Stopwatch
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.schemas.report import Report
from grader.scoring import midmean

OTHERS = ("do_bench", "events")
# Of the time allowed, how much the gradings may use; the other processes get the rest.
GRADINGS_SHARE = 0.75
# The spread allowed in ten gradings, from these microseconds on.
TARGETS = ((700.0, 0.002), (400.0, 0.003))
# (subject, workload) -> way of timing -> microseconds
Times = dict[tuple[str, str], dict[str, list[float]]]
Chosen = dict[Subject, list[Workload]]


@dataclass
class Raw:
    """The rounds of all gradings, for the file of results. ``inside``: the folder where solutions note their times."""

    recorded: Recorded
    inside: Path | None
    rows: list[dict[str, Any]] = field(default_factory=list)

    def source(self, subject: Subject) -> str | None:
        if self.inside is None or subject.language is not Language.TRITON:
            return None
        return subject.source + INSTRUMENT.format(path=str(self._notes(subject)))

    def _notes(self, subject: Subject) -> Path:
        assert self.inside is not None
        return self.inside / f"{subject.slug}.times"

    def add(self, subject: Subject, number: int, readings: Sequence[Reading]) -> None:
        clocks = self.recorded.clocks()
        whole = len(clocks) == 3 * len(readings)
        noted = self._noted(subject)
        for place, reading in enumerate(readings):
            row = {"subject": subject.name, "grading": number, **packed(reading)}
            if whole:  # nothing was measured again
                row["clocks"] = clocks[place :: len(readings)]
            sizes = ",".join(str(reading.workload.sizes[size]) for size in subject.challenge.manifest.sizes)
            if sizes in noted:
                row["inside"] = " ".join(noted[sizes])
            self.rows.append(row)

    def _noted(self, subject: Subject) -> dict[str, list[str]]:
        """Sizes -> microseconds of every call in order, the warm-up's too."""
        found = defaultdict[str, list[str]](list)
        if self.source(subject) is not None:
            for line in self._notes(subject).read_text().splitlines():
                sizes, took = line.split()
                found[sizes].append(f"{float(took):.2f}")
            self._notes(subject).unlink()
        return found


def gradings(
    chosen: Chosen,
    device: Device,
    maker: BoxMaker,
    count: int,
    until: float,
    steps: Steps,
    times: Times,
    raw: Raw,
) -> None:
    """Round by round through all subjects, so that what drifts does so for all of them. One control serves all, as a
    worker's does. ``until``: seconds."""
    boxes, control = Ahead(maker), KeptControl()
    try:
        for number in range(count):
            if steps.seconds > until:
                print(f"out of time after {number} gradings of each: allow more by --seconds")
                break
            steps.attempt(f"boxes {number + 1}", boxes.prepare, box_specs(device, chosen))
            for subject, some in chosen.items():
                name = f"grading {number + 1} of {subject.name}"
                readings: list[Reading] = []
                source = raw.source(subject)
                report = steps.attempt(name, grade, subject, some, device, boxes, source, readings, control)
                raw.add(subject, number, readings)
                if report is not None:
                    note(subject, report, times)
    finally:
        control.close()
        boxes.close()


def learn(chosen: Chosen, device: Device, maker: BoxMaker, count: int) -> None:
    """Time that many controls of each workload, each in a new box, and keep what a round cost."""
    if (costs := device.round_costs) is None:
        return
    for subject, some in chosen.items():
        for number in range(count):
            request = Request(subject.challenge, subject.language, "", device.name, os.urandom(32), [])
            launcher = Launcher(request, device, maker, lambda: None)
            try:
                control = launcher.control()
                for workload in some:
                    watch = Stopwatch(
                        request.challenge, workload, request.seed_key, device, f"learnt {number}"
                    )
                    rounds = watch.control(control)
                    costs.note(
                        costs_name(request.challenge, workload),
                        midmean([one.gate - known for one, known in rounds]),
                    )
            finally:
                launcher.close()


def note(subject: Subject, report: Report, times: Times) -> None:
    for workload in report.workloads:
        key = (subject.name, workload.name)
        if workload.time_us is not None:
            times[key]["judge"].append(workload.time_us)
        times[key]["charged"].append(workload.charged_us)
        times[key]["ungated"].append(float(not workload.gated))
    if len(report.workloads) > 1 and report.score is not None and report.score.time_us is not None:
        times[subject.name, "all of them"]["judge"].append(report.score.time_us)


def others(
    chosen: Chosen,
    device: Device,
    maker: BoxMaker,
    processes: int,
    until: float,
    steps: Steps,
    times: Times,
) -> None:
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as name:
        folder = Path(name)
        made = [
            steps.attempt(f"{subject.name} for another process", task, subject, some, device, maker, folder)
            for subject, some in chosen.items()
        ]
        tasks = [run for run in made if run is not None]
        for number in range(processes):
            if number >= 2 and steps.seconds > until:
                break
            found = steps.attempt(f"process {number + 1}", honest, tasks, OTHERS, folder)
            for subject, by_workload in (found or {}).items():
                for workload, by_method in by_workload.items():
                    for method, time_us in by_method.items():
                        times[subject, workload][method].append(time_us)


def target_of(time_us: float) -> float | None:
    return next((share for least, share in TARGETS if time_us >= least), None)


def table(times: Times) -> tuple[list[dict[str, Any]], bool]:
    """Prints it; returns the rows, and whether every target is met."""
    rows: list[dict[str, Any]] = []
    print(f"\n{'subject':<22}{'workload':<20}{'by':<10}{'n':>3}{'median us':>12}{'spread':>9}  target")
    met = True
    for (subject, workload), by_way in sorted(times.items()):
        for way in ("judge", *OTHERS):
            found = by_way.get(way, [])
            if not found:
                continue
            wide = spread(found)
            middle = sorted(found)[len(found) // 2]
            target = target_of(middle) if way == "judge" else None
            met = met and (target is None or wide <= target)
            word = "" if target is None else f"{target:.1%} {'met' if wide <= target else 'MISSED'}"
            print(f"{subject:<22}{workload:<20}{way:<10}{len(found):>3}{middle:>12.2f}{wide:>9.2%}  {word}")
            if way == "judge":
                print("    " + " ".join(f"{spread:.2f}" for spread in found))
            rows.append(
                {
                    "subject": subject,
                    "workload": workload,
                    "by": way,
                    "times_us": [round(time, 3) for time in found],
                    "spread": round(wide, 5),
                    "target": target,
                }
            )
        odd = [charge for charge in by_way.get("charged", []) if charge]
        if odd or any(by_way.get("ungated", [])):
            print(f"    charged {odd} us, ungated {sum(by_way['ungated']):.0f} times")
            rows[-1].update(charged_us=odd, ungated=sum(by_way["ungated"]))
    return rows, met


def plan(device: Device, rounds: int | None, control_rounds: int | None) -> None:
    """Change how many rounds are made."""
    known = device.plan
    fewest, most = (rounds, rounds) if rounds else (known.rounds, known.most_rounds)
    changed = replace(
        known, rounds=fewest, most_rounds=most, control_rounds=control_rounds or known.control_rounds
    )
    device.plan = changed  # type: ignore[misc]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="3 gradings, 2 processes")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=180.0, help="start nothing more after this")
    parser.add_argument("--box", default="auto")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--only", nargs="*", default=[""], help="subjects whose names contain one of these")
    parser.add_argument("--inside", action="store_true", help="Triton solutions note their times, too")
    parser.add_argument("--learn", type=int, default=6, help="controls of each workload ahead")
    parser.add_argument("--rounds", type=int, help="as many in every timing")
    parser.add_argument("--control-rounds", type=int, help="in each of the control's halves")
    options = parser.parse_args()
    count, processes = (3, 2) if options.quick else (options.count, options.processes)
    steps, times = Steps(), defaultdict[tuple[str, str], dict[str, list[float]]](lambda: defaultdict(list))
    device, maker = make_device(options.device, options.gpu), make_boxes(options.box)
    device.use_ceilings(dict(device.ceilings()))
    plan(device, options.rounds, options.control_rounds)
    chosen = {
        subject: workloads(subject.challenge, device, ranked_only=True)
        for subject in subjects(device)
        if any(text in subject.name for text in options.only)
    }
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as inside:
        raw = Raw(Recorded(device), Path(inside) if options.inside else None)
        try:
            steps.attempt("what rounds cost", learn, chosen, device, maker, options.learn)
            raw.recorded.clocks()
            share = GRADINGS_SHARE if processes else 1.0
            gradings(chosen, device, maker, count, share * options.seconds, steps, times, raw)
            if device.name != CPU and processes:
                others(chosen, device, maker, processes, options.seconds, steps, times)
        finally:
            maker.reap()
    rows, met = table(times)
    print(f"up to {count} gradings each, {maker.name} boxes, {steps.seconds:.0f} s in all")
    for failure in steps.failures:
        print(f"FAILED {failure}")
    if options.json:
        setup = {"boxes": maker.name, "gradings": count, "processes": processes, "inside": options.inside}
        keep("repeatability", {**setup, "rows": rows, "failures": steps.failures, "rounds": raw.rows})
    return 0 if met and not steps.failures else 1


if __name__ == "__main__":
    sys.exit(main())
