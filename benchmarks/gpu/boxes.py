"""How much times differ between boxes: rounds of several boxes, each bound several times to the same memory.

For a control and for the staff's CUDA vector_add: standard deviations of midmeans of G, in microseconds, from binding
to binding in one box, and from box to box, compared with chance. A new binding maps the arrays again.

By default one box after the other is measured, so a GPU that drifts within seconds looks like boxes that differ. With
``--alternating`` all boxes live at once and are bound in turn.

With ``--same-box`` the control runs in each box at several sizes, then the submissions (in Triton several, in CUDA
one), then the control again: can what is measured ahead of a submission predict its cost? For every pair:
correlation, slope, and how much the submission's times differ once the prediction is taken off (``left``, with a
slope of 1).

Usage: python benchmarks/gpu/boxes.py [--json] [--gpu N] [--boxes N] [--bindings N] [--rounds N]
       [--alternating | --same-box SLUG ...] [--language cuda|triton]
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import keep
from subjects import Subject, narrowed

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.challenge.signature import cuda_footer
from grader.judge.device import Device, make_device
from grader.judge.launch import Launcher
from grader.judge.request import Request
from grader.judge.runner_client import RunnerClient
from grader.judge.timing import Stopwatch
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from grader.scoring import midmean, midmean_error

WORKLOAD = "200 million and 3"
# At what sizes ``--same-box`` has the control work ahead of the submissions.
CONTROLS = (
    ("vector_add", "2^20"),
    ("vector_add", "2^24"),
    ("vector_add", "2^28"),
    ("vector_add", WORKLOAD),
    ("softmax", "65536 x 4096"),
)
# By challenge, the sizes at which submissions are timed there; the longest of another.
SIZES = {
    "vector_add": ("2^24", "2^28", WORKLOAD),
    "softmax": ("65536 x 4096", "1021 x 262147"),
    "matmul_fp16": ("4096 cube",),
}
_LESS = ", less its length"


def measure(options: argparse.Namespace) -> dict[str, list[list[list[float]]]]:
    """Of a control and a submission: microseconds of G (less the known length) by box, binding and round."""
    tune()
    device, maker = make_device("h200", options.gpu), make_boxes("local")
    count = options.rounds
    changed = replace(device.plan, rounds=count, most_rounds=count, control_rounds=count)
    device.plan = changed  # type: ignore[misc]
    catalogue = find_catalogue()
    language = Language.named(options.language)
    slugs = options.same_box or ["vector_add"]
    sizes = {slug: SIZES.get(slug, ("",)) if options.same_box else (WORKLOAD,) for slug in slugs}
    kernels = [Kernel.of(catalogue, slug, language, name) for slug in slugs for name in sizes[slug]]
    found: dict[str, list[list[list[float]]]] = {}
    turns = range(options.bindings)
    with closing(_Boxes(kernels, device, maker)) as boxes:
        names = ("control", kernels[0].name)
        if options.alternating:
            found = {name: [] for name in names}
            alive = {name: [boxes.start(name) for _ in range(options.boxes)] for name in found}
            for name, series in found.items():
                series += [[] for _ in alive[name]]
            for turn in turns:
                for number in range(options.boxes):
                    for name, series in found.items():
                        series[number].append(boxes.gates(name, alive[name][number], f"{number} {turn}"))
                print(
                    "  ".join(
                        f"{name} {_line([times[turn] for times in series])}" for name, series in found.items()
                    )
                )
        elif options.same_box:
            controls = [Kernel.of(catalogue, slug, language, name) for slug, name in CONTROLS]
            for number in range(options.boxes):
                for name, gates in boxes.together(controls, number, turns).items():
                    found.setdefault(name, []).append(gates)
                boxes.close()
                print("  ".join(f"{name} {_line(series[-1])}" for name, series in found.items()), flush=True)
        else:
            found = {name: [] for name in names}
            for number in range(options.boxes):
                for name, series in found.items():
                    client = boxes.start(name)
                    series.append([boxes.gates(name, client, f"{number} {turn}") for turn in turns])
                    boxes.close()
                print("  ".join(f"{name} {_line(series[-1])}" for name, series in found.items()), flush=True)
    maker.reap()
    return found


@dataclass(frozen=True)
class Kernel:
    """Staff's solution of a challenge, at one workload of it."""

    challenge: Challenge
    workload: Workload
    language: Language
    source: str

    @classmethod
    def of(cls, catalogue: Catalogue, slug: str, language: Language, name: str = "") -> Kernel:
        """``name``: of the workload; empty: the longest."""
        subject = Subject(slug, catalogue, slug, language)
        known = [
            workload
            for workload in subject.challenge.manifest.workloads
            if workload.on == "gpu" and name in ("", workload.name)
        ]
        workload = max(known, key=lambda workload: math.prod(workload.sizes.values()))
        return cls(narrowed(subject.challenge, [workload]), workload, language, subject.source)

    @property
    def name(self) -> str:
        return f"{self.challenge.slug} {self.workload.name}"


@dataclass
class _Boxes:
    """Boxes with the control or a submission loaded, which live until ``close``."""

    kernels: Sequence[Kernel]
    device: Device
    maker: BoxMaker
    _launchers: list[Launcher] = field(default_factory=list)
    _artefacts: dict[str, bytes | None] = field(default_factory=dict)
    _key: bytes = field(default_factory=lambda: os.urandom(32))

    def start(self, name: str) -> RunnerClient:
        launcher = self._launcher(self.kernels[0])
        return launcher.control() if name == "control" else launcher.submission()

    def together(
        self, controls: Sequence[Kernel], number: int, turns: Sequence[int]
    ) -> dict[str, list[list[float]]]:
        """Rounds in one box: the control's at these sizes, then the kernels', then the control's again."""
        found: dict[str, list[list[float]]] = {}

        def control(of: Kernel, client: RunnerClient, where: str) -> None:
            self._launcher(of).load_control(client)  # it knows the outputs by their names
            rounds = [
                self._stopwatch(of, f"control {where} {number} {turn}").control(client) for turn in turns
            ]
            name = f"control {where}, {of.name}"
            found[name] = [[timing.gate * 1e6 for timing, _ in one] for one in rounds]
            found[name + _LESS] = [[(timing.gate - known) * 1e6 for timing, known in one] for one in rounds]

        def ahead(client: RunnerClient) -> None:
            for of in controls:
                control(of, client, "ahead")

        client = self._launcher(self.kernels[0]).submission(ahead)
        loaded = self.kernels[0].challenge.slug
        for of in self.kernels:
            if of.challenge.slug != loaded:
                self._launcher(of).load(client)
                loaded = of.challenge.slug
            found[of.name] = [self._own(of, client, f"{number} {turn}") for turn in turns]
        control(controls[-1], client, "behind")
        return found

    def _launcher(self, of: Kernel) -> Launcher:
        request = Request(of.challenge, of.language, of.source, self.device.name, self._key, [])
        launcher = Launcher(request, self.device, self.maker, lambda: None, self._artefact(of))
        self._launchers.append(launcher)
        return launcher

    def _artefact(self, of: Kernel) -> bytes | None:
        if of.language is not Language.CUDA:
            return None
        if of.challenge.slug not in self._artefacts:
            footer = cuda_footer(of.challenge.manifest)
            request = CompileRequest(of.source, footer, arch=self.device.architecture)
            self._artefacts[of.challenge.slug] = compile_cuda(self.maker, request).artefact
        return self._artefacts[of.challenge.slug]

    def gates(self, name: str, client: RunnerClient, part: str) -> list[float]:
        """Microseconds of each round, with the memory bound again; a control's without the known length."""
        kernel = self.kernels[0]
        if name == kernel.name:
            return self._own(kernel, client, part)
        watch = self._stopwatch(kernel, f"{name} {part}")
        return [(timing.gate - known) * 1e6 for timing, known in watch.control(client)]

    def _own(self, of: Kernel, client: RunnerClient, part: str) -> list[float]:
        return [timing.gate * 1e6 for timing in self._stopwatch(of, part).own(client).rounds]

    def _stopwatch(self, of: Kernel, part: str) -> Stopwatch:
        return Stopwatch(of.challenge, of.workload, self._key, self.device, part)

    def close(self) -> None:
        while self._launchers:
            self._launchers.pop().close()


def _line(bindings: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{midmean(binding):.2f}" for binding in bindings)


def components(series: Sequence[Sequence[Sequence[float]]]) -> dict[str, float]:
    """Standard deviations: of chance, and what bindings and boxes add to it (0 where they seem to add nothing)."""
    chance = statistics.fmean(midmean_error(one) ** 2 for box in series for one in box)
    middles = [[midmean(one) for one in box] for box in series]
    within = statistics.fmean(statistics.variance(box) for box in middles)
    between = statistics.variance([statistics.fmean(box) for box in middles])
    added = {"bindings": within - chance, "boxes": between - within / len(middles[0])}
    return {
        "chance": round(math.sqrt(chance), 3),
        **{name: round(math.sqrt(max(0.0, variance)), 3) for name, variance in added.items()},
    }


def follows(
    ahead: Sequence[Sequence[Sequence[float]]], behind: Sequence[Sequence[Sequence[float]]]
) -> dict[str, float]:
    """How the times of one series follow those of another in the same boxes: microseconds, by box."""
    first, second = (
        [statistics.fmean(midmean(times) for times in box) for box in series] for series in (ahead, behind)
    )
    slope, _ = statistics.linear_regression(first, second)
    return {
        "correlation": round(statistics.correlation(first, second), 3),
        "slope": round(slope, 3),
        "ahead": round(statistics.stdev(first), 3),
        "own": round(statistics.stdev(second), 3),
        "left": round(statistics.stdev(two - one for one, two in zip(first, second, strict=True)), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--boxes", type=int, default=10)
    parser.add_argument("--bindings", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=40)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--alternating", action="store_true", help="bind boxes in turn that live at once")
    which.add_argument("--same-box", nargs="+", metavar="SLUG", help="what to time behind a control")
    parser.add_argument("--language", default="cuda", choices=[language.value for language in Language])
    options = parser.parse_args()
    if len(options.same_box or ()) > 1 and options.language == Language.CUDA.value:
        parser.error("a box loads one CUDA library: name one SLUG")
    found = measure(options)
    rows: list[dict[str, Any]] = []
    for name, series in found.items():
        row = {"of": name, **components(series)}
        print(row, flush=True)
        packed = [[" ".join(f"{time:.2f}" for time in one) for one in box] for box in series]
        rows.append({**row, "us": packed})
    for first, second in combinations(found, 2) if options.same_box else ():
        if not second.startswith("control"):
            rows.append({"of": second, "by": first, **follows(found[first], found[second])})
            print(rows[-1], flush=True)
    if options.json:
        kind = (
            f"_same_{'_'.join(options.same_box)}_{options.language}"
            if options.same_box
            else "_alternating"
            if options.alternating
            else ""
        )
        keep(f"boxes{kind}", {"rounds": options.rounds, "rows": rows})


if __name__ == "__main__":
    main()
