"""What ``run.py --plan NAME`` runs on a GPU, the most worth first, and what of it is left to do.

Every step ends within the seconds that it gets, keeps what it has, and goes on from there the next time: run a plan
again until nothing is left. Imports nothing but Python's own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

# Exit codes of a program that has more to do (benchmarks/results.py), and of one that was ended (run.py).
GO_ON, ENDED = 75, 124
# From the end of what a step begins itself to its own end: boxes, files.
ENDING_SECONDS = 25.0


@dataclass(frozen=True)
class Planned:
    """A step of a plan. ``task``: as on the command line of run.py; ``{seconds}`` is when it begins nothing more.

    It is not begun with fewer than ``least`` seconds and ended after ``most``. ``keeps``: the file of results that it
    writes at its end; then it is done, whatever it found (1 may mean that a target was missed). Without it, it is run
    until it exits with 0; each run does what the last left or what failed. ``alone``: work on other GPUs of the host
    slows what it measures, so such steps come first, one by one.
    """

    name: str
    task: str
    least: float
    most: float
    keeps: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False


# Written differently since a card timed them, or never timed there.
_UNTIMED = (
    "vector_add/descriptors.py softmax/thread_per_row.cu softmax/warp_per_row.cu softmax/one_warp.py "
    "dot/atomic_each_warp.cu reduce_sum/atomic_each_warp.cu"
)
_FEW = "--bindings 2 --rounds 16"
_GPU = "benchmarks/gpu"
EVERYTHING = (
    # The judge's tests first: figures of a judge that fails are worth nothing. In halves for two GPUs.
    Planned("judging in plain boxes", "tests=tests/gpu -k 'test_judging and not docker'", 60, 300),
    Planned(
        "tests in plain boxes",
        "tests=tests/gpu -k 'not test_judging and not docker and not several_gpus'",
        60,
        300,
    ),
    # It takes every GPU of the host, whatever is timed there.
    Planned("several GPUs", "tests=tests/gpu -k several_gpus", 40, 200, alone=True),
    Planned("hopper", f"python={_GPU}/hopper.py --device card --json", 40, 90, keeps="hopper_card"),
    Planned("model", f"python={_GPU}/model.py --device card --json {_UNTIMED}", 40, 90, keeps="model_card"),
    Planned(
        "model at board sizes",
        f"python={_GPU}/model.py --device card --sizes board --json {_UNTIMED}",
        90,
        170,
        keeps="model_board_card",
    ),
    Planned("turnaround", "turnaround=--count 20", 120, 200, keeps="gpu_turnaround", alone=True),
    Planned(
        "repeatability",
        "repeatability=--processes 0 --seconds {seconds}",
        110,
        260,
        keeps="repeatability",
        alone=True,
    ),
    Planned("large cases", f"python={_GPU}/large_cases.py --json --missing --seconds {{seconds}}", 60, 300),
    Planned("hostile", "hostile=--missing --seconds {seconds}", 60, 300),
    Planned("judging in Docker boxes", "tests=tests/gpu -k 'test_judging and docker'", 60, 300),
    Planned("tests in Docker boxes", "tests=tests/gpu -k 'docker and not test_judging'", 60, 300),
    # Ten gradings of each; ahead of the band, which leaves out what has been graded.
    Planned(
        "combined attack", "band=--only combined backwards --again 10 --missing --seconds {seconds}", 70, 150
    ),
    Planned("band", "band=--missing --seconds {seconds}", 50, 240),
    Planned("throughput", "throughput=", 80, 240, keeps="throughput", alone=True),
    Planned(
        "agreement",
        f"python={_GPU}/agreement.py --device h200 --json --missing --seconds {{seconds}}",
        60,
        320,
    ),
    Planned("boxes", f"python={_GPU}/boxes.py --json", 60, 150, keeps="boxes"),
    Planned(
        "boxes in turn",
        f"python={_GPU}/boxes.py --json --alternating --boxes 8 --bindings 5",
        60,
        150,
        keeps="boxes_alternating",
    ),
    # Does a box show by the control, ahead of a submission's code, what it will cost the submission?
    Planned(
        "control ahead in a Triton box",
        f"python={_GPU}/boxes.py --json --same-box vector_add softmax matmul_fp16 --language triton --boxes 14 {_FEW}",
        100,
        200,
        keeps="boxes_same_vector_add_softmax_matmul_fp16_triton",
    ),
    Planned(
        "control ahead in a CUDA box",
        f"python={_GPU}/boxes.py --json --same-box vector_add --boxes 14 {_FEW}",
        60,
        150,
        keeps="boxes_same_vector_add_cuda",
    ),
    # Spare boxes go on with their imports while something is timed.
    Planned(
        "beside imports",
        f"python={_GPU}/beside.py --json --only imports --seconds {{seconds}}",
        60,
        150,
        keeps="beside_imports",
        alone=True,
    ),
    Planned("solutions", "solutions=--missing --seconds {seconds}", 60, 360),
    Planned(
        "approximations",
        "python=benchmarks/approximations.py --device h100-80gb-hbm3 --json --missing --seconds {seconds}",
        60,
        420,
    ),
    # Goes on as long as the machine is held: run it in a call by itself, and the next at once.
    Planned(
        "final",
        "python=benchmarks/final.py --device gpu --folder /tmp/final --seconds {seconds} --json",
        240,
        570,
        environment={"GRADER_BOX": "local"},
    ),
)
PLANS: Mapping[str, Sequence[Planned]] = {"everything": EVERYTHING}


class State(StrEnum):
    """Of a step, by the last time that it ran."""

    NEVER = "never run"
    OLD = "of other sources"
    LEFT = "more is left"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True)
class Past:
    """The last run of a step: its exit code, how long it took, whether it wrote what it keeps, and a digest of what was
    measured."""

    code: int
    seconds: float
    kept: bool
    sources: str

    def state(self, step: Planned, sources: Collection[str]) -> State:
        if self.sources not in sources:
            return State.OLD
        if self.code in (GO_ON, ENDED):
            return State.LEFT
        if self.kept if step.keeps else self.code == 0:
            return State.DONE
        return State.FAILED


@dataclass
class Ledger:
    """What ran of a plan, by the names of its steps, and from which sources."""

    past: dict[str, Past]
    sources: Collection[str]

    @classmethod
    def read(cls, files: Sequence[Path], sources: Collection[str]) -> Ledger:
        """Of files of results, of which a later one counts more."""
        rows: list[dict[str, Any]] = [
            {"measured": kept["measured"], **row}
            for file in files
            for kept in [json.loads(file.read_text())]
            for row in kept["figures"]["rows"]
        ]
        rows.sort(key=lambda row: str(row["measured"]))
        return cls(
            {row["step"]: Past(row["code"], row["seconds"], row["kept"], row["sources"]) for row in rows},
            sources,
        )

    def state(self, step: Planned) -> State:
        past = self.past.get(step.name)
        return State.NEVER if past is None else past.state(step, self.sources)

    def expected(self, step: Planned) -> float:
        """Seconds: the last time's, else the most that it may take."""
        past = self.past.get(step.name)
        if past is None or self.state(step) in (State.LEFT, State.FAILED):
            return step.most
        return min(step.most, past.seconds)

    def to_do(self, plan: Sequence[Planned], *, again: bool = False) -> list[Planned]:
        return [step for step in plan if again or self.state(step) is not State.DONE]


def fits(step: Planned, left: float) -> bool:
    """True if it is worth beginning with these seconds left."""
    return left >= step.least


def told(step: Planned, seconds: float) -> str:
    """The step's task with the second at which it begins nothing more."""
    return step.task.replace("{seconds}", f"{max(1.0, seconds - ENDING_SECONDS):.0f}")


def table(plan: Sequence[Planned], ledger: Ledger, budget: float, *, again: bool = False) -> str:
    """Lines on what a call of these seconds would do: each step with its last state and duration."""
    lines, left = [], budget
    to_do = ledger.to_do(plan, again=again)
    for step in plan:
        past = ledger.past.get(step.name)
        took = f"{past.seconds:4.0f} s" if past is not None else "     -"
        if step not in to_do:
            says = "kept"
        elif not fits(step, left):
            says = f"no time left (at least {step.least:.0f} s)"
        else:
            says = f"runs, at most {min(left, step.most):.0f} s"
            left -= min(left, ledger.expected(step))
        lines.append(f"{step.name:<24}{ledger.state(step).value:<18}{took}  {says}")
    return "\n".join([f"{'step':<24}{'is':<18}{'took':>6}  in this call, of {budget:.0f} s", *lines])
