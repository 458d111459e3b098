"""Runs the GPU's tests and figures one after the other, from the bundle if there is one (`make bench-gpu`).

Usage: python3 benchmarks/gpu/run.py [STEP ...] [--budget SECONDS] [--out FOLDER] [-- options that each step takes]

Steps: tests proofs solutions repeatability band trueness turnaround throughput hostile; all of them in this order
where none is named. A step that outlasts its time is ended and the next one begins; none begins when the budget is
spent. With --out a tar file with the results and each step's whole output lies in that folder after every step.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from test_gpu import ROOT, WORK, engine, install_wheels

LOGS = WORK / "logs"
# What a step that was told to end gets to write down what it has.
GRACE_SECONDS = 5.0
# More than one step's usual table; the whole output is in its log.
SHOWN_LINES = 60


@dataclass(frozen=True)
class Step:
    """A command of Python's, without the interpreter, and how long it may take at most."""

    command: str
    seconds: float


_TESTS = "-m pytest -p pytest_timeout -p no:cacheprovider -q"
STEPS = {
    "tests": Step(f"{_TESTS} tests/gpu", 900),
    "proofs": Step("benchmarks/proofs.py --device h200 --jobs 16 --json --seconds 400", 540),
    "solutions": Step("benchmarks/gpu/solutions.py --json --seconds 300", 360),
    "repeatability": Step("benchmarks/gpu/repeatability.py --json --box docker --seconds 400", 460),
    "band": Step("benchmarks/gpu/band.py --json --seconds 300", 360),
    "trueness": Step("benchmarks/gpu/trueness.py --json --box docker", 240),
    "turnaround": Step("benchmarks/gpu/turnaround.py --json --box docker", 180),
    "throughput": Step(
        "benchmarks/throughput.py --json --submissions 40 --compilers 2 --device h200 --box docker", 240
    ),
    "hostile": Step("scripts/hostile.py --on gpu --json", 540),
}


def main() -> int:
    options = _options()
    LOGS.mkdir(parents=True, exist_ok=True)
    site = install_wheels()
    paths = [str(ROOT), *([str(site)] if site else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    codes: dict[str, int] = {}
    end = time.monotonic() + options.budget
    with engine() as found:
        environment = {
            "GRADER_REQUIRE": "docker,gpu",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **os.environ,
            **found,
            "PYTHONPATH": ":".join(paths),
            "PYTHONUNBUFFERED": "1",
        }
        for name in options.steps or STEPS:
            left = end - time.monotonic()
            if left <= GRACE_SECONDS:
                print(f"== {name}: no time left", flush=True)
                codes[name] = 1
                continue
            codes[name] = run(name, options.more, environment, min(left, STEPS[name].seconds))
            if options.out:
                pack(options.out)
    print("== " + ", ".join(f"{name}: {code}" for name, code in codes.items()))
    return max(codes.values())


def run(name: str, more: list[str], environment: dict[str, str], seconds: float) -> int:
    """The step's exit code; 124 where it had to be ended. Its output goes to its log, the last of it is shown too."""
    command = [sys.executable, *STEPS[name].command.split(), *more]
    print(f"== {name} (at most {seconds:.0f} s): {' '.join(command[1:])}", flush=True)
    log, began = LOGS / f"{name}.log", time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = _stop(process)
    lines = log.read_text(errors="replace").splitlines()
    print("\n".join(lines[-SHOWN_LINES:]))
    print(f"== {name}: {code} after {time.monotonic() - began:.0f} s", flush=True)
    return code


def _stop(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    # What it started is in its session, so nothing of it runs on beside the next step.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return 124


def pack(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / "gpu.tar.gz", "w:gz") as tar:
        tar.add(LOGS, "logs")
        for path in sorted((ROOT / "benchmarks" / "results").glob("*nvidia*.json")):
            tar.add(path, f"results/{path.name}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", choices=[*STEPS, []])
    parser.add_argument("--budget", type=float, default=3600.0, help="seconds for all steps together")
    parser.add_argument("--out", type=Path, help="folder for the tar file")
    words = sys.argv[1:]
    place = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:place])
    options.more = words[place + 1 :]
    return options


if __name__ == "__main__":
    sys.exit(main())
