"""Runs the GPU's tests and figures one after the other, from the bundle if there is one (`make bench-gpu`).

Usage: python3 benchmarks/gpu/run.py [STEP[=OPTIONS] ...] [--gpus N] [--budget SECONDS] [--most SECONDS] [--out FOLDER]

Steps: tests proofs solutions repeatability band trueness turnaround throughput hostile; all of them in this order
where none is named. ``"solutions=relu saxpy"`` hands a step's script more words, ``tests=PATHS`` others than all, and
``"python=SCRIPT OPTIONS"`` runs any other script that takes --gpu; a step may be named more than once. A step that
outlasts its time is ended and the next one begins; none begins when the budget is spent. With --gpus 2 each of two GPUs
takes the next step when it is free. With --out each step's whole output grows in that folder, and a tar file with the
results lies there after every step.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tarfile
import threading
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
    # Follow the command where the caller names no others.
    words: str = ""
    # How it is told which GPU to use; the tests are told by GRADER_TEST_GPU.
    gpu_option: str = "--gpu"


_TESTS = "-m pytest -p pytest_timeout -p no:cacheprovider -v"
STEPS = {
    "tests": Step(_TESTS, 900, "tests/gpu", gpu_option=""),
    "proofs": Step("benchmarks/proofs.py --device h200 --json --seconds 400", 560, gpu_option="--gpus"),
    "solutions": Step("benchmarks/gpu/solutions.py --json --seconds 300", 360),
    "repeatability": Step("benchmarks/gpu/repeatability.py --json --box docker --seconds 400", 460),
    "band": Step("benchmarks/gpu/band.py --json --seconds 300", 360),
    "trueness": Step("benchmarks/gpu/trueness.py --json --box docker", 240),
    "turnaround": Step("benchmarks/gpu/turnaround.py --json --box docker --no-baselines", 240),
    "throughput": Step(
        "benchmarks/throughput.py --json --device h200 --box docker",
        240,
        "--submissions 24 --compilers 4 --overlapped --no-baselines",
    ),
    "hostile": Step("scripts/hostile.py --on gpu --json --seconds 480", 560),
}
# The last one's script is what its words name.
KNOWN = {**STEPS, "python": Step("", 600)}


def main() -> int:
    options = _options()
    options.logs.mkdir(parents=True, exist_ok=True)
    site = install_wheels()
    paths = [str(ROOT), *([str(site)] if site else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    with engine() as found:
        environment = {
            "GRADER_REQUIRE": "docker,gpu",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **os.environ,
            **found,
            "PYTHONPATH": ":".join(paths),
            "PYTHONUNBUFFERED": "1",
            "PYTHONFAULTHANDLER": "1",
        }
        codes = Lanes(options, environment).run()
    print("== " + ", ".join(f"{name}: {code}" for name, code in codes.items()))
    return max(codes.values())


@dataclass(frozen=True)
class Task:
    """A step that was asked for. ``number``: its place in the list; ``words``: what the caller hands its script."""

    number: int
    name: str
    words: str

    @property
    def step(self) -> Step:
        return KNOWN[self.name]

    @property
    def title(self) -> str:
        return f"{self.number}-{self.name}"


def _numbered(steps: list[str]) -> list[Task]:
    split = (step.partition("=") for step in steps)
    return [Task(number, name, words) for number, (name, _, words) in enumerate(split, 1)]


class Lanes:
    """One thread a GPU; each takes the next step that its GPU can run."""

    def __init__(self, options: argparse.Namespace, environment: dict[str, str]) -> None:
        self.options = options
        self.environment = environment
        self.end = time.monotonic() + options.budget
        self.left = _numbered(options.steps or list(STEPS))
        self.codes: dict[str, int] = {}
        self.lock = threading.Lock()

    def run(self) -> dict[str, int]:
        """The exit code of each task, by title; 1 where no time was left for it."""
        lanes = [threading.Thread(target=self._lane, args=(gpu,)) for gpu in range(self.options.gpus)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        return self.codes

    def _lane(self, gpu: int) -> None:
        while task := self._next():
            left = self.end - time.monotonic()
            if left <= GRACE_SECONDS:
                print(f"== {task.title}: no time left", flush=True)
                code = 1
            else:
                seconds = min(left, task.step.seconds, self.options.most)
                code = run(task, gpu, self.environment, seconds, self.options.logs)
            with self.lock:
                self.codes[task.title] = code
                if self.options.out:
                    pack(self.options.out)

    def _next(self) -> Task | None:
        with self.lock:
            return self.left.pop(0) if self.left else None


def run(task: Task, gpu: int, environment: dict[str, str], seconds: float, logs: Path) -> int:
    """The step's exit code; 124 where it had to be ended. Its output goes to its log, the last of it is shown too.

    Each has a folder of its own for what is temporary, so that none sees another's files.
    """
    step = task.step
    words = shlex.split(task.words or step.words)
    where = [step.gpu_option, str(gpu)] if step.gpu_option and step.gpu_option not in words else []
    command = [sys.executable, *step.command.split(), *words, *where]
    print(f"== {task.title} (at most {seconds:.0f} s): {' '.join(command[1:])}", flush=True)
    log, began = logs / f"{task.title}.log", time.monotonic()
    temporary = WORK.with_name(f"gg{task.number}")  # short: names of sockets have at most 107 characters
    temporary.mkdir(exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**environment, "GRADER_TEST_GPU": str(gpu), "TMPDIR": str(temporary)},
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
    print(f"== {task.title}: {code} after {time.monotonic() - began:.0f} s", flush=True)
    return code


def _stop(process: subprocess.Popen[bytes]) -> int:
    # SIGINT: pytest then tells its failures. SIGABRT: what does not hear that says in its log where it hangs.
    for number in (signal.SIGINT, signal.SIGABRT, signal.SIGKILL):
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
            break
    # What it started is in its session, so nothing of it runs on beside the next step.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return 124


def pack(folder: Path) -> None:
    with tarfile.open(folder / "gpu.tar.gz", "w:gz") as tar:
        for path in sorted((ROOT / "benchmarks" / "results").glob("*nvidia*.json")):
            tar.add(path, f"results/{path.name}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP")
    parser.add_argument("--gpus", type=int, default=1, help="of this machine, that work side by side")
    parser.add_argument("--budget", type=float, default=3600.0, help="seconds for all steps together")
    parser.add_argument("--most", type=float, default=3600.0, help="seconds for any one step")
    parser.add_argument("--out", type=Path, help="folder for outputs and the tar file")
    options = parser.parse_args()
    options.logs = options.out or LOGS
    unknown = [step for step in options.steps if step.partition("=")[0] not in KNOWN]
    if unknown:
        parser.error(f"no such step: {', '.join(unknown)}; there are {', '.join(STEPS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
