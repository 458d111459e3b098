"""Runs the GPU's tests and figures one after the other, from the bundle if there is one (`make bench-gpu`).

Usage: python3 benchmarks/gpu/run.py [STEP[=OPTIONS] ...] [--gpus N] [--budget SECONDS] [--most SECONDS] [--out FOLDER]
       python3 benchmarks/gpu/run.py --plan everything [--only TEXT ...] [--again] [--dry-run] [--budget SECONDS] ...

Steps: tests proofs solutions repeatability band trueness turnaround throughput hostile; by default all, in this
order. ``"solutions=relu saxpy"`` passes more words to a step's script, ``tests=PATHS`` other tests, and
``"python=SCRIPT OPTIONS"`` runs any other script that takes --gpu. A step that outlasts its time is ended; none
begins when the budget is spent. With --gpus 2 each of two GPUs takes the next step when it is free. --out: each
step's output grows in that folder, and a tar file with the results is written there after every step.

A plan (``plan.py``) is everything to measure on a card, the most worth first. A call runs as much of it as its budget
allows, skips what was done from the same sources of the judge, and goes on with what was left. --again runs all of
it, --only the steps whose names hold these texts, --dry-run shows what a call would do without a GPU. With --gpus,
steps that are slower with other work around come first and run alone. Unpack the tar file of a call (``tar -xzf
gpu.tar.gz -C benchmarks``) before the next: it tells what is done. If files travel without their repository,
GRADER_COMMIT names the commit. GRADER_ALSO_GOOD: digests of earlier sources, separated by commas, whose results you
know to be as good today; each row keeps its commit.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import plan
from test_gpu import ROOT, WORK, engine, install_wheels

LOGS = WORK / "logs"
# Seconds that a step gets to write its results after it was asked to end.
GRACE_SECONDS = 5.0
# More than one step's usual table; the whole output is in its log.
SHOWN_LINES = 60
# pytest's exit code.
NOTHING_COLLECTED = 5


@dataclass(frozen=True)
class Step:
    """A command of Python's, without the interpreter, and how long it may take at most."""

    command: str
    seconds: float
    # Follow the command where the caller names no others.
    words: str = ""
    # The option that names the GPU; tests read GRADER_TEST_GPU.
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
        "benchmarks/throughput.py --json --device gpu --box docker",
        240,
        "--submissions 24 --compilers 4 --overlapped --no-baselines",
    ),
    "hostile": Step("scripts/hostile.py --on gpu --json --seconds 480", 560),
}
# The last one's script is what its words name.
KNOWN = {**STEPS, "python": Step("", 600)}


def main() -> int:
    options = _options()
    if options.dry_run:
        print(plan.table(_chosen(options), ledger(), options.budget, again=options.again))
        return 0
    options.logs.mkdir(parents=True, exist_ok=True)
    site = install_wheels()
    paths = [str(ROOT), *([str(site)] if site else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    sys.path[1:1] = paths  # what keeps results imports the platform, which may be in the bundle alone
    if options.plan and not commit():
        print("set GRADER_COMMIT: these files travelled without their repository", file=sys.stderr)
        return 2
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
    return max(codes.values(), default=0)


def _chosen(options: argparse.Namespace) -> list[plan.Planned]:
    steps = plan.PLANS[options.plan]
    if not options.only:
        return list(steps)
    return list({step.name: step for text in options.only for step in steps if text in step.name}.values())


def _results() -> ModuleType:
    """What keeps results. Not imported above: on a GPU's host the platform may be in the bundle alone."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    return importlib.import_module("results")


def commit() -> str:
    return str(_results().commit())


def ledger() -> plan.Ledger:
    """Steps of plans that were done, on any machine."""
    results = _results()
    return plan.Ledger.read(sorted(results.FOLDER.glob("gpu_plan-*.json")), results.as_good())


def note(step: plan.Planned, code: int, began: float) -> None:
    """Keep that a step of a plan ran, from ``began`` (seconds since the epoch) until now."""
    results = _results()
    kept = any(path.stat().st_mtime >= began for path in results.FOLDER.glob(f"{step.keeps}-*.json"))
    seconds = round(time.time() - began, 1)
    rows = [{"step": step.name, "code": code, "seconds": seconds, "kept": bool(step.keeps) and kept}]
    results.keep("gpu_plan", {"rows": results.merged("gpu_plan", rows, "step")})


# pytest -v: a test's name, which may have spaces in its parameters, and how it ended. With -s, what the test prints is
# between them.
TESTED = re.compile(
    r"^(?P<test>tests/\S+?::\w+(?:\[.*?\])?) (?:.*\n(?:(?!tests/).*\n)*?)??(?P<outcome>PASSED|FAILED|ERROR|SKIPPED)\b",
    re.M,
)


def passed() -> set[str]:
    """The tests that passed on such a GPU with these sources of the judge."""
    found: set[str] = _results().known("gpu_tests", "test", lambda row: row["outcome"] == "PASSED")
    return found


def note_tests(log: str) -> None:
    """Keep how each test ended that a log tells of: with an error at its end, one has not passed."""
    outcomes: dict[str, str] = {}
    for match in TESTED.finditer(log):
        if outcomes.get(match["test"]) not in ("FAILED", "ERROR"):
            outcomes[match["test"]] = match["outcome"]
    if outcomes:
        results = _results()
        rows = [{"test": test, "outcome": outcome} for test, outcome in outcomes.items()]
        results.keep("gpu_tests", {"rows": results.merged("gpu_tests", rows, "test")})


@dataclass(frozen=True)
class Task:
    """A step that was asked for. ``number``: its place in the list; ``words``: what the caller hands its script."""

    number: int
    name: str
    words: str
    planned: plan.Planned | None = None

    @property
    def step(self) -> Step:
        return KNOWN[self.name]

    @property
    def title(self) -> str:
        name = self.planned.name.replace(" ", "_") if self.planned is not None else self.name
        return f"{self.number}-{name}"

    @property
    def most(self) -> float:
        return self.planned.most if self.planned is not None else self.step.seconds

    def within(self, seconds: float) -> Task:
        """The task with these seconds filled in."""
        if self.planned is None:
            return self
        return replace(self, words=plan.told(self.planned, seconds).partition("=")[2])


def _numbered(steps: list[str]) -> list[Task]:
    split = (step.partition("=") for step in steps)
    return [Task(number, name, words) for number, (name, _, words) in enumerate(split, 1)]


def _planned(options: argparse.Namespace) -> list[Task]:
    to_do = ledger().to_do(_chosen(options), again=options.again)
    print(plan.table(_chosen(options), ledger(), options.budget, again=options.again), flush=True)
    split = ((step, step.task.partition("=")) for step in to_do)
    return [Task(number, name, words, step) for number, (step, (name, _, words)) in enumerate(split, 1)]


class Lanes:
    """One thread a GPU; each takes the next step that its GPU can run."""

    def __init__(self, options: argparse.Namespace, environment: dict[str, str]) -> None:
        self.options = options
        self.environment = environment
        self.end = time.monotonic() + options.budget
        self.left = _planned(options) if options.plan else _numbered(options.steps or list(STEPS))
        self.codes: dict[str, int] = {}
        self.lock = threading.Lock()

    def run(self) -> dict[str, int]:
        """The exit code of each task, by title; 1 where no time was left for it. First those that run alone."""
        alone = [step for step in self.left if step.planned is not None and step.planned.alone]
        self.left = [step for step in self.left if step not in alone]
        for task in alone:
            self._one(task, 0)
        lanes = [threading.Thread(target=self._lane, args=(gpu,)) for gpu in range(self.options.gpus)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        return self.codes

    def _lane(self, gpu: int) -> None:
        while task := self._next():
            self._one(task, gpu)

    def _one(self, task: Task, gpu: int) -> None:
        left = self.end - time.monotonic()
        began = time.time()
        if left <= GRACE_SECONDS or (task.planned is not None and not plan.fits(task.planned, left)):
            print(f"== {task.title}: no time left", flush=True)
            code, ran = 1, False
        else:
            seconds = min(left, task.most, self.options.most)
            code, ran = run(task.within(seconds), gpu, self.environment, seconds, self.options.logs), True
        with self.lock:
            self.codes[task.title] = code
            if ran and task.planned is not None:
                note(task.planned, code, began)
            if ran and task.name == "tests":
                log = self.options.logs / f"{task.title}.log"
                note_tests(log.read_text(errors="replace"))
            if self.options.out:
                pack(self.options.out)

    def _next(self) -> Task | None:
        with self.lock:
            return self.left.pop(0) if self.left else None


def run(task: Task, gpu: int, environment: dict[str, str], seconds: float, logs: Path) -> int:
    """The step's exit code; 124 if it had to be ended. Its output goes to its log; the end of it is printed, too.

    Each step has its own folder for temporary files.
    """
    step = task.step
    words = shlex.split(task.words or step.words)
    if task.planned is not None and task.name == "tests":
        words += [f"--deselect={test}" for test in sorted(passed())]
    where = [step.gpu_option, str(gpu)] if step.gpu_option and step.gpu_option not in words else []
    command = [sys.executable, *step.command.split(), *words, *where]
    shown = [word for word in command[1:] if not word.startswith("--deselect=")]
    print(f"== {task.title} (at most {seconds:.0f} s): {' '.join(shown)}", flush=True)
    log, began = logs / f"{task.title}.log", time.monotonic()
    temporary = WORK.with_name(f"gg{task.number}")  # short: names of sockets have at most 107 characters
    temporary.mkdir(exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={
                **environment,
                **(task.planned.environment if task.planned is not None else {}),
                "GRADER_TEST_GPU": str(gpu),
                "TMPDIR": str(temporary),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = _stop(process)
    if task.name == "tests" and code == NOTHING_COLLECTED:
        code = 0  # all of them passed before
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
    # All that it started is in its session, so nothing of it outlives the step.
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
    parser.add_argument("--plan", choices=list(plan.PLANS), help="in place of steps")
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="steps of the plan, by their names, in this order",
    )
    parser.add_argument("--again", action="store_true", help="also what is done of the plan")
    parser.add_argument("--dry-run", action="store_true", help="show what a call would do of the plan")
    parser.add_argument("--out", type=Path, help="folder for outputs and the tar file")
    options = parser.parse_args()
    options.logs = options.out or LOGS
    unknown = [step for step in options.steps if step.partition("=")[0] not in KNOWN]
    if bool(options.steps) and options.plan:
        parser.error("name steps or a plan")
    if options.dry_run and not options.plan:
        parser.error("--dry-run goes with --plan")
    if unknown:
        parser.error(f"no such step: {', '.join(unknown)}; there are {', '.join(STEPS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
