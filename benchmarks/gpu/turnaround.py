"""Submit to verdict on a warm worker with a GPU: vector_add, all cases and workloads, in CUDA and in Triton.

The wall clock runs from handing the job to the warm judge process until its outcome is back; what queue and web add
is in `benchmarks/turnaround.py`. Baselines and ceilings are frozen with the first submission, as in service. Every
source differs in a comment, so that each is compiled. Beside it: the same CUDA source through ``load_inline`` in a
fresh process with an empty cache, timed there by events.

Targets, medians: CUDA under 4 s, Triton under 5 s.

Usage: python benchmarks/gpu/turnaround.py [--json] [--quick] [--count N] [--pause SECONDS] [--box local|docker]
       [--device h200|cpu] [--gpu 0]
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradings import Steps
from results import keep
from subjects import HERE

from grader.challenge.course import Course, find_course
from grader.challenge.fingerprint import content, digest
from grader.judge.job import Job, Outcome
from grader.judge.process import JudgeProcess
from grader.judge.request import CPU
from grader.languages import Language
from grader.schemas.report import Verdict

SLUG = "vector_add"
TARGETS = {Language.CUDA: 4.0, Language.TRITON: 5.0}
INLINE_SECONDS = 240.0


class Submitter:
    """Hands submissions of one language to a judge; keeps what was frozen by the first."""

    def __init__(self, judge: JudgeProcess, course: Course, language: Language, device: str) -> None:
        self._judge, self._course, self._language, self._device = judge, course, language, device
        self.path = course.root / "reference" / SLUG / "staff" / f"solution{language.suffix}"
        self.ceilings: dict[str, float] = {}
        self.baselines: dict[str, dict[str, float]] = {}

    def submit(self, number: int) -> dict[str, float]:
        """Seconds of one submission: ``whole``, and the parts of the judge's own breakdown."""
        # The comment makes each source a new one to every cache.
        source = f"{self.path.read_text()}\n{self._language.comment} submission {number}\n"
        job = Job(
            submission=f"{self._language.value}-{number}",
            course=str(self._course.root),
            challenge=SLUG,
            fingerprint=digest(content(self._course.load(SLUG))),
            language=self._language,
            source=source,
            device=self._device,
            seed_key=secrets.token_hex(32),
            baselines=self.baselines,
            ceilings=self.ceilings,
        )
        began = time.perf_counter()
        outcome = self._judge.run(job, lambda _: None, lambda: False)
        whole = time.perf_counter() - began
        return self._parts(outcome, whole)

    def _parts(self, outcome: Outcome, whole: float) -> dict[str, float]:
        report = outcome.report
        if report.verdict is not Verdict.ACCEPTED:
            raise RuntimeError(f"{self.path.name} ended as {report.verdict.value}: {report.detail}")
        for workload, by_name in outcome.baselines.items():
            self.baselines.setdefault(workload, {}).update(by_name)
        parts = dict(report.breakdown_s)
        judged = parts.pop("total")
        rest = judged - sum(parts.values())
        return {"whole": whole, **parts, "rest of the judge": rest, "around the judge": whole - judged}


def submissions(
    submitter: Submitter, count: int, pause: float, steps: Steps, name: str
) -> list[dict[str, float]]:
    """The first, which freezes baselines, and ``count`` more. Before each the judge may start its spare boxes."""
    runs = []
    for number in range(count + 1):
        time.sleep(pause)
        found = steps.attempt(f"{name} {number}", submitter.submit, number)
        if found is not None:
            runs.append(found)
    return runs


def summary(language: Language, runs: list[dict[str, float]]) -> dict[str, Any]:
    """Prints and returns medians of all but the first."""
    first, rest = runs[0], runs[1:]
    names = list(dict.fromkeys(name for run in rest for name in run))
    medians = {name: statistics.median(run.get(name, 0.0) for run in rest) for name in names}
    whole = [run["whole"] for run in rest]
    # Compiling needs no GPU: all else, box and control included, is time in which the GPU serves this submission.
    held = statistics.median(run["whole"] - run.get("compile", 0.0) for run in rest)
    met = medians["whole"] < TARGETS[language]
    print(f"\n{language.value}: submit to verdict, median of {len(rest)} (first: {first['whole']:.2f} s)")
    for name, seconds in medians.items():
        print(f"  {name:<20} {seconds:7.3f} s")
    word = f"target {TARGETS[language]:.0f} s: {'met' if met else 'MISSED'}"
    print(f"  fastest {min(whole):.3f} s, slowest {max(whole):.3f} s; {word}")
    print(f"  the GPU is held {held:.3f} s, {3600 / held:.0f} submissions per hour with compiling overlapped")
    return {
        "median_s": {name: round(seconds, 4) for name, seconds in medians.items()},
        "all_s": [round(it, 4) for it in whole],
        "first_s": round(first["whole"], 4),
        "gpu_seconds": round(held, 4),
        "per_hour_with_compiling_overlapped": round(3600 / held),
        "target_s": TARGETS[language],
        "met": met,
    }


def load_inline(source: Path, elements: int, gpu: int) -> dict[str, Any]:
    """The same source as others build and time it: wall seconds of a fresh process, and its parts."""
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as name:
        answer = Path(name) / "answer.json"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # ninja lies beside the interpreter
        env = {**os.environ, "TORCH_EXTENSIONS_DIR": name, "PATH": path, "CUDA_VISIBLE_DEVICES": str(gpu)}
        began = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, str(HERE / "inline.py"), str(source), str(elements), str(answer)],
            capture_output=True,
            text=True,
            timeout=INLINE_SECONDS,
            check=False,
            env=env,
        )
        whole = time.perf_counter() - began
        if not answer.exists():
            raise RuntimeError(
                f"inline.py failed ({ran.returncode}): {ran.stdout[-1000:]} {ran.stderr[-2000:]}"
            )
        found: dict[str, Any] = {"whole_s": round(whole, 3), **json.loads(answer.read_text())}
    print(f"\nload_inline in a fresh process, checked and timed at one size: {whole:.1f} s")
    for part, seconds in found["parts_s"].items():
        print(f"  {part:<20} {seconds:7.3f} s")
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="2 submissions each, no load_inline")
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--pause", type=float, default=6.0)
    parser.add_argument("--box", default="auto")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    options = parser.parse_args()
    count = 2 if options.quick else options.count
    steps, figures, course = Steps(), dict[str, Any](), find_course()
    languages = [Language.TRITON] if options.device == CPU else [Language.CUDA, Language.TRITON]
    with JudgeProcess(options.box, spare_boxes=1, device=options.device, gpu=options.gpu) as judge:
        steps.attempt("warm", judge.warm_up)
        ceilings = steps.attempt("calibrate", judge.calibrate) or {}
        baselines: dict[str, dict[str, float]] = {}
        for language in languages:
            submitter = Submitter(judge, course, language, options.device)
            submitter.ceilings, submitter.baselines = ceilings, baselines
            runs = submissions(submitter, count, options.pause, steps, language.value)
            if len(runs) > 1:
                figures[language.value] = summary(language, runs)
    if options.device != CPU and not options.quick:
        elements = max(it.sizes["n"] for it in course.load(SLUG).manifest.workloads)
        source = course.root / "reference" / SLUG / "staff" / "solution.cu"
        figures["load_inline"] = steps.attempt("load_inline", load_inline, source, elements, options.gpu)
    print(f"\n{options.box} boxes, {steps.seconds:.0f} s in all")
    for failure in steps.failures:
        print(f"FAILED {failure}")
    if options.json:
        setup = {"boxes": options.box, "count": count, "pause_s": options.pause}
        keep("gpu_turnaround", {**setup, **figures, "failures": steps.failures})
    met = all(figures.get(it.value, {}).get("met", False) for it in languages)
    return 0 if met and not steps.failures else 1


if __name__ == "__main__":
    sys.exit(main())
