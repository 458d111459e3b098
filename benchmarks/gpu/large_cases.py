"""What the cases for a GPU alone take: each challenge's solutions must pass all of them, and each mutant whose mistake
shows there alone must fail one.

A row for each submission: the seconds of each case (drawing, the untimed call, the right answer, the call, comparing
every element), and what failed. Cases for which the GPU lacks memory are listed as left out.

Usage: python benchmarks/gpu/large_cases.py [SLUG ...] [--json] [--device h200] [--gpu N] [--seconds S]
       [--missing]: only what was not right yet, of these very sources
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import GO_ON, keep, known, merged

from grader.authoring.candidates import Candidate, subjects
from grader.authoring.trial import Trial
from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.judge.compilation import compile_source, request_of
from grader.judge.device import Device, make_device
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.choose import make_boxes
from grader.sandbox.compiler.nvcc import CompileResult
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.proof import CandidateOutcome, CandidateRole

COMPILERS = 12


@dataclass
class Row:
    """One submission; ``seconds`` by case. ``right``: it ended as it must."""

    name: str
    ending: str
    right: bool
    failed: list[str]
    detail: str
    seconds: dict[str, float] = field(default_factory=dict)

    def line(self) -> str:
        times = ", ".join(f"{name} {seconds:.2f}" for name, seconds in self.seconds.items())
        failed = f"; failed: {', '.join(self.failed)}: {self.detail[:120]}" if self.failed else ""
        return f"{'ok   ' if self.right else 'WRONG'} {self.name:<44}{self.ending:<10}{times}{failed}"


class Watch:
    """Seconds from one case to the next; see ``Trial.on_case``."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._name, self._since = "", 0.0

    def __call__(self, done: int, of: int, name: str) -> None:
        now = time.perf_counter()
        if self._name:
            self.seconds[self._name] = round(now - self._since, 3)
        self._name, self._since = name, now


def asked(challenge: Challenge) -> list[Candidate]:
    """Solutions, and mutants that nothing smaller shows."""
    made = subjects(challenge, tuple(Language))
    return [candidate for candidate in made if candidate.role is CandidateRole.SOLUTION or candidate.large]


def name_of(challenge: Challenge, candidate: Candidate) -> str:
    return f"{challenge.slug} {candidate.name}"


def compile_all(work: list[tuple[Challenge, Candidate]], device: Device) -> dict[str, CompileResult]:
    """By source."""
    boxes = make_boxes("local")
    work = [(one, candidate) for one, candidate in work if candidate.language.compiled]
    requests = [
        request_of(one, candidate.language, candidate.source, device.architecture) for one, candidate in work
    ]
    with ThreadPoolExecutor(COMPILERS) as threads:
        made = threads.map(lambda request: compile_source(boxes, request), requests)
        return {candidate.source: result for (_, candidate), result in zip(work, made, strict=True)}


def row(trial: Trial, candidate: Candidate) -> Row:
    watch = Watch()
    trial.on_case = watch
    found = trial.try_large(candidate)
    wanted = CandidateOutcome.FAILED if candidate.role.wrong else CandidateOutcome.ACCEPTED
    return Row(
        name=name_of(trial.challenge, candidate),
        ending=found.ending.value,
        right=found.ending is wanted,
        failed=found.failed,
        detail=found.detail,
        seconds=watch.seconds,
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--seconds", type=float, default=170.0, help="begin no submission after this")
    parser.add_argument(
        "--missing", action="store_true", help="only what was not right yet, of these sources"
    )
    options = parser.parse_args()
    tune()
    began = time.perf_counter()
    device, boxes, catalogue = make_device(options.device, options.gpu), ForkedBoxes(), find_catalogue()
    challenges = [catalogue.load(slug) for slug in options.slugs or catalogue.slugs()]
    done = known("large_cases", "name", lambda row: bool(row["right"])) if options.missing else set()
    wanted = [
        (one, candidate)
        for one in challenges
        for candidate in asked(one)
        if name_of(one, candidate) not in done
    ]
    compiled = compile_all(wanted, device)
    print(f"compiled after {time.perf_counter() - began:.0f} s", flush=True)
    rows: list[Row] = []
    left_out: list[str] = []
    left = 0
    for challenge in challenges:
        candidates = [candidate for one, candidate in wanted if one is challenge]
        if not candidates:
            continue
        trial = Trial(challenge, device, boxes, compiled=compiled)
        if (plan := device.memory_plan) is not None:
            reasons = [plan.case_shortage(challenge, case) for case in challenge.suite("gpu") if case.on]
            left_out += [f"{challenge.slug}: {reason}" for reason in reasons if reason]
        for candidate in candidates:
            if time.perf_counter() - began > options.seconds:
                left_out.append(f"{name_of(challenge, candidate)}: no time left")
                left += 1
                continue
            torch.cuda.reset_peak_memory_stats()
            try:
                rows.append(row(trial, candidate))
            except Exception as error:  # one that fails must not keep the figures of the others
                text = f"{type(error).__name__}: {error}"
                rows.append(Row(name_of(challenge, candidate), "error", False, [], text[:500]))
                print(text[:2000], flush=True)
            peak = torch.cuda.max_memory_allocated() / 2**30
            print(f"{rows[-1].line()}  (judge's peak {peak:.1f} GiB)", flush=True)
            if options.json:
                kept = merged("large_cases", [asdict(row) for row in rows], "name")
                keep("large_cases", {"rows": kept, "left_out": left_out})
    print("\n".join(["left out:", *left_out]) if left_out else "nothing left out")
    boxes.close()
    if left:
        return GO_ON
    return 0 if all(row.right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
