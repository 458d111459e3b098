"""How fast the catalogue's own solutions are: each challenge's CUDA and Triton solution, PyTorch eager and
torch.compile, at the largest ranked workload that fits, all by the judge's gate.

Targets for the better of the two solutions: 85 % of the measured copy bandwidth where memory is the bound; of what
eager reaches (cuBLAS, fused attention) 60 % for matmul_fp16 and matmul_bf16, 40 % for matmul, 50 % for
causal_attention_fp16. The next challenge's boxes are started while one is timed.

Usage: python benchmarks/gpu/solutions.py [SLUG ...] [--json] [--device h200] [--seconds S]
       [--missing]: only what was not timed yet, of these very sources
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradings import Ahead, Steps
from results import GO_ON, keep, known, merged
from subjects import narrowed, workloads

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.challenge.signature import cuda_footer
from grader.device_kinds import takes
from grader.judge.cuda.ceilings import copy_bandwidth
from grader.judge.device import Device, TimingPlan, make_device
from grader.judge.launch import Launcher, submission_spec
from grader.judge.request import Request
from grader.judge.roofline import is_ranked, roofline_seconds
from grader.judge.rule import ControlRound, Own, settle
from grader.judge.runner_client import RunnerClient
from grader.judge.timing import Stopwatch
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.box import BoxMaker, BoxPurpose
from grader.sandbox.choose import make_boxes
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda

COPY_SHARE = 0.85
EAGER_SHARES = {"matmul_fp16": 0.6, "matmul_bf16": 0.6, "matmul": 0.4, "causal_attention_fp16": 0.5}
# Fewer than a grading makes: the median of these is good to a fraction of a percent.
PLAN = TimingPlan(rounds=15, most_rounds=15, control_rounds=8, warm_up=2, seconds=4.0)


@dataclass
class Row:
    """One challenge. Times in microseconds by name: ``cuda``, ``triton``, ``eager``, ``compile``."""

    slug: str
    workload: str
    roofline_us: float
    bytes: float
    times: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    bandwidth_share: float = 0.0
    eager_share: float = 0.0
    target: str = ""
    met: bool = False

    @property
    def best(self) -> float | None:
        return min((self.times[name] for name in ("cuda", "triton") if name in self.times), default=None)

    def judge(self, copy: float) -> None:
        """Hold the better solution against its target. ``copy``: bytes/s."""
        if self.best is None:
            self.target = "a solution that runs"
            return
        self.bandwidth_share = self.bytes / (self.best * 1e-6) / copy
        self.eager_share = self.times["eager"] / self.best if "eager" in self.times else 0.0
        if self.slug in EAGER_SHARES:
            wanted = EAGER_SHARES[self.slug]
            self.target, self.met = f"{wanted:.0%} of eager", self.eager_share >= wanted
        elif self.bytes / copy >= 0.9 * self.roofline_us * 1e-6:
            self.target, self.met = f"{COPY_SHARE:.0%} of copy", self.bandwidth_share >= COPY_SHARE
        else:
            self.target, self.met = "none: bound by arithmetic", True

    def line(self) -> str:
        def cell(name: str) -> str:
            return f"{self.times[name]:.1f}" if name in self.times else "failed"

        best = self.best or float("nan")
        sol = self.roofline_us / best
        eager, compiled = (self.times.get(name, float("nan")) / best for name in ("eager", "compile"))
        numbers = f"{cell('cuda'):>10}{cell('triton'):>10}{cell('eager'):>10}{cell('compile'):>10}"
        shares = f"{sol:>7.2f}{self.bandwidth_share:>7.2f}{eager:>8.2f}{compiled:>8.2f}"
        return f"{self.slug:<24}{self.workload:<22}{numbers}{shares}  {self.target} {'met' if self.met else 'MISSED'}"


class Bench:
    """Times one challenge after the other on one device."""

    def __init__(self, catalogue: Catalogue, device: Device, boxes: BoxMaker) -> None:
        self.catalogue, self.device, self.boxes = catalogue, device, boxes
        self.seed_key = os.urandom(32)

    def source(self, slug: str, language: Language) -> str:
        return (self.catalogue.root / f"reference/{slug}/staff/solution{language.suffix}").read_text()

    def compiled(self, challenge: Challenge) -> bytes | None:
        """The CUDA solution's library. Raises RuntimeError with the log if it does not compile."""
        source = self.source(challenge.slug, Language.CUDA)
        request = CompileRequest(source, cuda_footer(challenge.manifest), arch=self.device.architecture)
        made = compile_cuda(self.boxes, request)
        if made.artefact is None:
            raise RuntimeError(made.log[-1000:])
        return made.artefact

    def row(self, challenge: Challenge, workload: Workload, boxes: Ahead) -> Row:
        manifest = challenge.manifest
        least = roofline_seconds(manifest, workload, self.device.ceilings()) or 0.0
        moved = parse(manifest.cost.bytes)(workload.sizes)
        row = Row(challenge.slug, workload.name, least * 1e6, moved)
        try:
            self._fill(row, narrowed(challenge, [workload]), workload, boxes)
        finally:
            boxes.close()
            if (plan := self.device.memory_plan) is not None:
                plan.make_room()  # baselines allocate in processes of their own
        return row

    def prepare(self, challenge: Challenge) -> Ahead:
        """All boxes that ``row`` needs, started and preloaded."""
        boxes, allow = Ahead(self.boxes), challenge.manifest.allow
        memory = challenge.manifest.limits.memory_bytes
        specs = [submission_spec(self.device, language, memory, allow) for language in challenge.solutions]
        specs += [self.device.box_spec(BoxPurpose.BASELINE, Language.TRITON, memory)] * 2
        boxes.prepare([*specs, self.device.box_spec(BoxPurpose.CONTROL, Language.CUDA, memory)])
        return boxes

    def _fill(self, row: Row, challenge: Challenge, workload: Workload, boxes: BoxMaker) -> None:
        launchers = {language: self._launcher(challenge, language, boxes) for language in challenge.solutions}
        try:
            control = launchers[Language.CUDA].control()
            before = self._control(challenge, workload, control, "before")
            owns = dict(self._owns(row, challenge, workload, launchers))
            after = self._control(challenge, workload, control, "after")
            for name, own in owns.items():
                row.times[name] = round(settle(own, before, after, self.device.noise).time.value * 1e6, 2)
        finally:
            for launcher in launchers.values():
                launcher.close()

    def _launcher(self, challenge: Challenge, language: Language, boxes: BoxMaker) -> Launcher:
        source = self.source(challenge.slug, language)
        request = Request(challenge, language, source, self.device.name, self.seed_key, [])
        artefact = self.compiled(challenge) if language is Language.CUDA else None
        return Launcher(request, self.device, boxes, lambda: None, artefact)

    def _owns(
        self, row: Row, challenge: Challenge, workload: Workload, launchers: dict[Language, Launcher]
    ) -> Iterator[tuple[str, Own]]:
        for name in ("cuda", "triton", "eager", "compile"):
            ours = name in list(Language)
            launcher = launchers[Language.named(name) if ours else Language.TRITON]
            try:
                client = launcher.submission() if ours else launcher.reference(name)
                yield name, self._watch(challenge, workload, name).own(client, checked=ours)
                client.close()
            except Exception as error:  # whatever goes wrong with one must not lose the others
                row.failures[name] = f"{type(error).__name__}: {error}"[:300]
                print(f"    {row.slug}, {name}: {row.failures[name]}", flush=True)

    def _control(
        self, challenge: Challenge, workload: Workload, control: RunnerClient, part: str
    ) -> list[ControlRound]:
        return self._watch(challenge, workload, part).control(control)

    def _watch(self, challenge: Challenge, workload: Workload, part: str) -> Stopwatch:
        stopwatch = Stopwatch(challenge, workload, self.seed_key, self.device, f"solutions {part}")
        stopwatch.plan = PLAN
        return stopwatch


def longest(challenge: Challenge, device: Device) -> Workload | None:
    """The first workload of those that fit which has the longest roofline time among the ranked ones."""
    plan = device.memory_plan
    ranked = [
        workload
        for workload in workloads(challenge, device, ranked_only=True)
        if is_ranked(challenge.manifest, workload, device)
        and (plan is None or not plan.shortage(challenge, workload))
    ]
    ceilings = device.ceilings()
    return max(
        ranked,
        key=lambda workload: roofline_seconds(challenge.manifest, workload, ceilings) or 0.0,
        default=None,
    )


def compile_ahead(bench: Bench, challenges: Sequence[Challenge]) -> None:
    """In parallel; the compiler keeps the libraries. A source that fails is reported when it is used."""

    def attempt(challenge: Challenge) -> None:
        try:
            bench.compiled(challenge)
        except RuntimeError:
            traceback.print_exc()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(attempt, challenges))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--box", default="local")
    parser.add_argument("--seconds", type=float, default=300.0, help="begin no challenge after this")
    parser.add_argument(
        "--missing", action="store_true", help="only what was not timed yet, of these sources"
    )
    options = parser.parse_args()
    tune()
    device, boxes, catalogue, steps = (
        make_device(options.device, options.gpu),
        make_boxes(options.box),
        find_catalogue(),
        Steps(),
    )
    copy = copy_bandwidth()
    device.use_ceilings(dict(device.ceilings()))
    bench = Bench(catalogue, device, boxes)
    done = known("solutions", "slug", lambda row: not row["failures"]) if options.missing else set()
    slugs = [entry for entry in options.slugs or catalogue.slugs() if entry not in done]
    challenges = [
        challenge
        for challenge in map(catalogue.load, slugs)
        if takes(options.device, challenge.manifest.gpus)
    ]
    steps.attempt("compile all", compile_ahead, bench, challenges)
    rows: list[Row] = []
    left: list[str] = []
    todo = [
        (challenge, chosen) for challenge in challenges if (chosen := longest(challenge, device)) is not None
    ]
    steps.failures += [
        f"{challenge.slug}: no workload is ranked"
        for challenge in challenges
        if challenge not in [one for one, _ in todo]
    ]
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(bench.prepare, todo[0][0]) if todo else None
        for number, (challenge, workload) in enumerate(todo):
            assert coming is not None
            ready = coming.result()
            last = number + 1 == len(todo) or steps.seconds > options.seconds
            coming = None if last else thread.submit(bench.prepare, todo[number + 1][0])
            row = steps.attempt(challenge.slug, bench.row, challenge, workload, ready)
            if row is not None:
                row.judge(copy)
                rows.append(row)
                print(row.line(), flush=True)
                if options.json:
                    keep_rows(rows, copy, device, steps)
            if last:
                left = [challenge.slug for challenge, _ in todo[number + 1 :]]
                steps.failures += [f"{entry}: no time left" for entry in left]
                break
    boxes.reap()
    report(rows, copy, device, steps)
    if options.json:
        keep_rows(rows, copy, device, steps)
    if left:
        return GO_ON
    return 0 if all(row.met for row in rows) and not steps.failures else 1


def report(rows: Sequence[Row], copy: float, device: Device, steps: Steps) -> None:
    print(f"\ncopy {copy / 1e12:.3f} TB/s; ceilings {dict(device.ceilings())}")
    head = f"{'cuda us':>10}{'triton':>10}{'eager':>10}{'compile':>10}{'SOL':>7}{'copy':>7}{'/eager':>8}{'/comp.':>8}"
    print(f"{'challenge':<24}{'workload':<22}{head}  target of the better one")
    for row in rows:
        print(row.line())
    for failure in steps.failures:
        print(f"FAILED {failure}")


def keep_rows(rows: Sequence[Row], copy: float, device: Device, steps: Steps) -> None:
    """After each row: what ends this program may be the end of a lease."""
    figures: dict[str, Any] = {
        "copy_bytes_per_s": copy,
        "ceilings": dict(device.ceilings()),
        "rows": merged("solutions", [asdict(row) for row in rows], "slug"),
        "failures": steps.failures,
    }
    keep("solutions", figures)


if __name__ == "__main__":
    sys.exit(main())
