"""Submit to verdict on a warm worker with a GPU: vector_add, all cases and workloads, in CUDA and in Triton.

The wall clock runs from handing the job to the warm judge process until its outcome is back;
`benchmarks/turnaround.py` adds queue and web. The first submission freezes baselines and ceilings. Every source
differs in a comment, so each is compiled. ``--inline`` also times the same CUDA source through ``load_inline`` in a
fresh process with an empty cache. ``--phases`` waits for the GPU after each part, which adds some hundredths of a
second.

Targets, medians back to back (``--pause 0``): CUDA without the compiler's time under 2.0 s, Triton under 2.5 s; the
GPU is held at most 1.5 s for each. ``triton, ahead`` is a Triton submission that waited behind a busy GPU, so its
kernels were compiled ahead; they are those of the first such submission, because a comment changes no kernel.

Usage: python benchmarks/gpu/turnaround.py [--json] [--quick] [--count N] [--pause SECONDS] [--box local|docker]
       [--device h200|cpu] [--gpu 0] [--spares N] [--languages cuda,triton] [--phases] [--inline]
       [--no-baselines]
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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradings import Steps
from results import keep
from subjects import HERE

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.fingerprint import content, digest
from grader.judge.compilation import compile_kernels, kernels_request
from grader.judge.job import Job, Outcome
from grader.judge.process import JudgeProcess
from grader.judge.request import CPU
from grader.languages import Language
from grader.sandbox.choose import make_boxes
from grader.schemas.artefact import Artefact
from grader.schemas.report import Verdict

SLUG = "vector_add"
TARGETS = {Language.CUDA: 2.0, Language.TRITON: 2.5}
HELD_TARGET = 1.5
INLINE_SECONDS = 240.0


@dataclass(frozen=True)
class Run:
    """Seconds of one submission without compiling, its parts, and on request every phase and the start of its box."""

    seconds: float
    parts: dict[str, float]
    phases: dict[str, float]
    start: dict[str, float]

    @property
    def held(self) -> float:
        """How long the GPU serves this submission and no other: all but compiling, box and control included."""
        return self.seconds


class Submitter:
    """Hands submissions of one language to a judge, with what the first froze. ``kernels``: compiled ahead for all."""

    def __init__(
        self,
        judge: JudgeProcess,
        catalogue: Catalogue,
        language: Language,
        device: str,
        phases: bool,
        kernels: Artefact | None = None,
    ) -> None:
        self._kernels = kernels
        self._judge, self._course, self._language, self._device = judge, catalogue, language, device
        self._phases = phases
        self.path = catalogue.root / "reference" / SLUG / "staff" / f"solution{language.suffix}"
        self.ceilings: dict[str, float] = {}
        self.baselines: dict[str, dict[str, float | None]] = {}

    def submit(self, number: int) -> Run:
        """One submission: its whole seconds, without a compiler's, and the parts of the judge's own breakdown."""
        # The comment makes each source a new one to every cache.
        source = f"{self.path.read_text()}\n{self._language.comment} submission {number}\n"
        job = Job(
            submission=f"{self._language.value}-{number}{'-ahead' if self._kernels else ''}",
            catalogue=str(self._course.root),
            challenge=SLUG,
            fingerprint=digest(content(self._course.load(SLUG))),
            language=self._language,
            source=source,
            device=self._device,
            seed_key=secrets.token_hex(32),
            baselines=self.baselines,
            ceilings=self.ceilings,
            phases=self._phases,
            artefact=self._ahead(source),
        )
        began = time.perf_counter()
        outcome = self._judge.run(job, lambda _: None, lambda: False)
        whole = time.perf_counter() - began
        return self._parts(outcome, whole)

    def _ahead(self, source: str) -> Artefact | None:
        if self._kernels is None:
            return None
        challenge = self._course.load(SLUG)
        wanted = kernels_request(challenge, self._language, source, self._kernels.arch)
        return self._kernels.model_copy(update={"key": wanted.key()})

    def _parts(self, outcome: Outcome, whole: float) -> Run:
        report = outcome.report
        if report.verdict is not Verdict.ACCEPTED:
            raise RuntimeError(f"{self.path.name} ended as {report.verdict.value}: {report.detail}")
        for workload, by_name in outcome.baselines.items():
            self.baselines.setdefault(workload, {}).update(by_name)
        parts = dict(report.breakdown_s)
        judged = parts.pop("total")
        rest = judged - sum(parts.values())
        times = {
            workload.name: (workload.rounds, workload.time_us, workload.fixed_us, workload.charged_us)
            for workload in report.workloads
        }
        print(
            f"    rounds, us, cost of a round, charged: {times}; flags: {[flag.value for flag in report.flags]}",
            flush=True,
        )
        parts |= {"rest of the judge": rest, "around the judge": whole - judged}
        return Run(whole - parts.get("compile", 0.0), parts, outcome.phases, outcome.start)


def submissions(submitter: Submitter, count: int, pause: float, steps: Steps, name: str) -> list[Run]:
    """The first, which freezes baselines, and ``count`` more, with ``pause`` seconds before each."""
    runs = []
    for number in range(count + 1):
        time.sleep(pause)
        found = steps.attempt(f"{name} {number}", submitter.submit, number)
        if found is not None:
            runs.append(found)
    return runs


def medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """By name; what a run has none of took it no time."""
    names = list(dict.fromkeys(name for run in runs for name in run))
    return {name: round(statistics.median(run.get(name, 0.0) for run in runs), 4) for name in names}


def compiled_ahead(catalogue: Catalogue, language: Language, box: str, architecture: str) -> Artefact:
    """The kernels of the first submission. Raises RuntimeError where nothing came of it."""
    source = (catalogue.root / "reference" / SLUG / "staff" / f"solution{language.suffix}").read_text()
    began = time.perf_counter()
    wanted = kernels_request(catalogue.load(SLUG), language, source, architecture)
    found = compile_kernels(make_boxes(box), wanted)
    if not found.library:
        raise RuntimeError("no kernel was compiled ahead")
    print(f"    {len(found.library):,} bytes in {time.perf_counter() - began:.2f} s", flush=True)
    return found


def summary(name: str, language: Language, runs: list[Run]) -> dict[str, Any]:
    """Prints and returns medians of all but the first."""
    first, rest = runs[0], runs[1:]
    whole = [run.seconds for run in rest]
    median, held = statistics.median(whole), statistics.median(run.held for run in rest)
    parts, phases = medians([run.parts for run in rest]), medians([run.phases for run in rest])
    start = medians([run.start for run in rest])
    met = median < TARGETS[language]
    word = f"target {TARGETS[language]:.1f} s: {'met' if met else 'MISSED'}"
    print(f"\n{name}: submit to verdict without compiling, {len(rest)} back to back: {median:.3f} s, {word}")
    print(
        f"  fastest {min(whole):.3f} s, slowest {max(whole):.3f} s; the first, with baselines: {first.seconds:.2f} s"
    )
    print(f"  the GPU is held {held:.3f} s (target {HELD_TARGET} s); {3600 / held:.0f} submissions an hour")
    for title, found in (("parts", parts), ("phases", phases), ("the start of a box", start)):
        print(f" {title}:" if found else "", end="\n" if found else "")
        for name, seconds in sorted(found.items(), key=lambda pair: -pair[1]):
            print(f"  {name:<32} {seconds:7.3f} s")
    return {
        "median_s": round(median, 4),
        "all_s": [round(time, 4) for time in whole],
        "parts_s": parts,
        "phases_s": phases,
        "box_start_s": start,
        "first_s": round(first.seconds, 4),
        "gpu_held_s": round(held, 4),
        "per_hour": round(3600 / held),
        "target_s": TARGETS[language],
        "met": met,
        "held_met": held <= HELD_TARGET,
    }


def load_inline(source: Path, elements: int, gpu: int) -> dict[str, Any]:
    """The same source as others build and time it: wall seconds of a fresh process, and its parts."""
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as name:
        answer = Path(name) / "answer.json"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # ninja is in the interpreter's folder
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
    parser.add_argument("--quick", action="store_true", help="2 submissions each")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--spares", type=int, default=1, help="boxes started ahead, for each language")
    parser.add_argument("--languages", default="cuda,triton")
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("--no-baselines", action="store_true", help="none with the first submission")
    parser.add_argument("--inline", action="store_true", help="load_inline as well")
    parser.add_argument("--box", default="auto")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    options = parser.parse_args()
    count = 2 if options.quick else options.count
    steps, figures, catalogue = Steps(), dict[str, Any](), find_catalogue()
    languages = [Language.named(name) for name in options.languages.split(",")]
    if options.device == CPU:
        languages = [Language.TRITON]
    with JudgeProcess(
        options.box, spare_boxes=options.spares, device=options.device, gpu=options.gpu
    ) as judge:
        steps.attempt("warm", judge.warm_up)
        ceilings = steps.attempt("calibrate", judge.calibrate) or {}
        baselines: dict[str, dict[str, float | None]] = {}
        if options.no_baselines:
            names = ("eager",) if options.device == CPU else ("eager", "compile")
            baselines = {
                workload.name: dict.fromkeys(names) for workload in catalogue.load(SLUG).manifest.workloads
            }
        for language in languages:
            kinds: dict[str, Artefact | None] = {language.value: None}
            if language.kernels_ahead and options.device != CPU:
                name = f"{language.value}, ahead"
                kernels = steps.attempt(
                    name, compiled_ahead, catalogue, language, options.box, judge.architecture
                )
                kinds |= {name: kernels} if kernels else {}
            for name, kernels in kinds.items():
                submitter = Submitter(judge, catalogue, language, options.device, options.phases, kernels)
                submitter.ceilings, submitter.baselines = ceilings, baselines
                runs = submissions(submitter, count, options.pause, steps, name)
                if len(runs) > 1:
                    figures[name] = summary(name, language, runs)
    if options.inline and options.device != CPU:
        elements = max(workload.sizes["n"] for workload in catalogue.load(SLUG).manifest.workloads)
        source = catalogue.root / "reference" / SLUG / "staff" / "solution.cu"
        figures["load_inline"] = steps.attempt("load_inline", load_inline, source, elements, options.gpu)
    print(f"\n{options.box} boxes, {steps.seconds:.0f} s in all")
    for failure in steps.failures:
        print(f"FAILED {failure}")
    if options.json:
        setup = {
            "boxes": options.box,
            "count": count,
            "pause_s": options.pause,
            "spares": options.spares,
            "phases": options.phases,
        }
        keep("gpu_turnaround", {**setup, **figures, "failures": steps.failures})
    met = all(figures.get(language.value, {}).get("met", False) for language in languages)
    return 0 if met and not steps.failures else 1


if __name__ == "__main__":
    sys.exit(main())
