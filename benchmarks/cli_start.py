"""How long the command line takes to start, against Python itself (medians of one run, the commands taking turns).

Targets: `grader --help` at most 4 times, `grader challenges --json` against a local server at most 6 times, the time of
`python -c pass`.

Usage: python benchmarks/cli_start.py [--json]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from results import keep
from running import Failed, environment, platform

ROUNDS = 41
GRADER = str(Path(sys.executable).with_name("grader"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "grader --help": [GRADER, "--help"],
    "grader challenges --json": [GRADER, "challenges", "--json"],
    "grader challenges": [GRADER, "challenges"],
}
TARGETS = {"grader --help": 4.0, "grader challenges --json": 6.0}


def measure(env: Mapping[str, str]) -> dict[str, float]:
    """Median milliseconds of each command. They take turns, so that a change of the machine's pace hits all."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(ROUNDS + 1):
        for name, command in COMMANDS.items():
            began = time.perf_counter()
            ran = subprocess.run(
                command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
            )
            seconds = time.perf_counter() - began
            if ran.returncode:
                raise Failed(f"{name}: {ran.stderr.decode(errors='replace')}")
            if number:  # the first round fills the disk's cache
                times[name].append(seconds * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> int:
    with (
        tempfile.TemporaryDirectory(prefix="grader-bench-") as folder,
        environment(Path(folder) / "run") as env,
        platform(env, Path(folder) / "run") as url,
    ):
        medians = measure({**env, "GRADER_SERVER": url})
    base = medians["python -c pass"]
    met = True
    for name, milliseconds in medians.items():
        target = TARGETS.get(name)
        within = target is None or milliseconds <= target * base
        met = met and within
        told = f"target {target:.0f}x {'met' if within else 'MISSED'}" if target else ""
        print(f"{name:<26} {milliseconds:7.1f} ms  {milliseconds / base:5.2f}x  {told}")
    if "--json" in sys.argv:
        ratios = {name: round(value / base, 3) for name, value in medians.items()}
        rounded = {name: round(value, 2) for name, value in medians.items()}
        keep("cli_start", {"rounds": ROUNDS, "median_ms": rounded, "ratio": ratios, "targets": TARGETS})
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
