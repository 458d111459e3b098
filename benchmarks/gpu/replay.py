"""The spread of earlier gradings, settled by today's rule from their raw rounds.

Each grading is settled with the control's rounds that belong to it; c is known from the other gradings of the
workload, as on a machine in use. Also: with c from the grading's own control alone, and by medians.

Usage: python benchmarks/gpu/replay.py [--json] [FILE ...]    (default: all of benchmarks/results/repeatability*.json)
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradings import spread
from raw_rounds import unpacked
from results import FOLDER, keep

from grader.judge.cuda.device import CudaDevice
from grader.judge.round_costs import Usual
from grader.judge.rule import Measured, Own, settle
from grader.judge.runner_client import Timed

Row = dict[str, Any]


def control(row: Row, half: str) -> list[tuple[Timed, float]]:
    return [(timing, 0.0) for timing in unpacked(row[half])]


def settled(row: Row, usual: Usual | None = None) -> Measured:
    own = Own(unpacked(row["own"]), gated=True)
    return settle(own, control(row, "control_before"), control(row, "control_after"), CudaDevice.noise, usual)


def by_median(row: Row) -> float:
    costs = [timing.gate for half in ("control_before", "control_after") for timing, _ in control(row, half)]
    return statistics.median(timing.gate for timing in unpacked(row["own"])) - statistics.median(costs)


def replay(rows: Sequence[Row]) -> dict[str, Any]:
    """Of the gradings of one workload: microseconds, and spreads as shares."""
    alone = [settled(row) for row in rows]
    known = []
    for place, row in enumerate(rows):
        others = [entry.cost for number, entry in enumerate(alone) if number != place]
        known.append(settled(row, Usual(others)).time.value)
    times = [entry.time.value for entry in alone]
    return {
        "gradings": len(rows),
        "rounds": [entry.rounds for entry in alone],
        "time_us": round(statistics.fmean(known) * 1e6, 2),
        "spread": round(spread(known), 5),
        "spread_by_own_control": round(spread(times), 5),
        "spread_by_median": round(spread([by_median(row) for row in rows]), 5),
        "deviation_us": round(statistics.stdev(known) * 1e6, 3),
        "costs_us": [round(entry.cost * 1e6, 2) for entry in alone],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    options = parser.parse_args()
    found = []
    for file in options.files or sorted(FOLDER.glob("repeatability*.json")):
        kept = json.loads(file.read_text())
        by_workload = defaultdict[tuple[str, str], list[Row]](list)
        for row in kept["figures"].get("rounds", []):
            by_workload[row["subject"], row["workload"]].append(row)
        for (subject, workload), rows in sorted(by_workload.items()):
            figures = replay(rows)
            print(
                f"{file.stem}: {subject}, {workload}: {figures['time_us']} us, {figures['spread']:.2%} "
                f"(by its own control {figures['spread_by_own_control']:.2%}, "
                f"by medians {figures['spread_by_median']:.2%})"
            )
            found.append({"file": file.name, "subject": subject, "workload": workload, **figures})
    if options.json:
        keep("replay", {"rows": found})


if __name__ == "__main__":
    main()
