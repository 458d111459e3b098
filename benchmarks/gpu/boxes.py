"""Where the difference between boxes comes from: rounds of several boxes, each bound several times to the same memory.

Each box has a context and a page for its gate of its own; a new binding maps the arrays anew. For a control and for
the staff's CUDA vector_add: by how much midmeans of G differ from binding to binding in one box, and from box to box,
beside what chance makes of so many rounds (standard deviations, microseconds).

One box after the other is measured with all its bindings, so a GPU that drifts within seconds looks like boxes that
differ. With ``--alternating`` all boxes live at once and are bound in turn: what then differs is the boxes.

With ``--same-box`` a control runs in each box ahead of the submission, and another when that is done and while it is
still loaded: whether a box that costs its control more costs its submission more, too, by how much (slope), and how far
submissions then differ (``left``). Nothing that is measured behind a submission can be trusted; that is about causes.
With ``--ahead`` (in Triton) another challenge's kernel runs there ahead of the submission, too: does a box show by a
kernel of ours what it will cost the submission? ``left`` is then what remains of the submission's differences when the
other's are taken off in proportion to their times.

Usage: python benchmarks/gpu/boxes.py [--json] [--gpu N] [--boxes N] [--bindings N] [--rounds N]
       [--alternating | --same-box] [--language cuda|triton] [--ahead SLUG]
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
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
_BEHIND, _AHEAD = "control behind", "kernel ahead"


def measure(options: argparse.Namespace) -> dict[str, list[list[list[float]]]]:
    """Of a control and a submission: microseconds of G (less the known length) by box, binding and round."""
    tune()
    device, maker = make_device("h200", options.gpu), make_boxes("local")
    count = options.rounds
    changed = replace(device.plan, rounds=count, most_rounds=count, control_rounds=count)
    device.plan = changed  # type: ignore[misc]
    catalogue = find_catalogue()
    kernel, artefact = Kernel.of(catalogue, "vector_add", Language.named(options.language), WORKLOAD), None
    if kernel.language is Language.CUDA:
        footer = cuda_footer(kernel.challenge.manifest)
        request = CompileRequest(kernel.source, footer, arch=device.architecture)
        artefact = compile_cuda(maker, request).artefact
    found: dict[str, list[list[list[float]]]] = {"control": [], "vector_add": []}
    turns = range(options.bindings)
    other = Kernel.of(catalogue, options.ahead, Language.TRITON) if options.ahead else None
    with closing(_Boxes(kernel, device, maker, artefact, other)) as boxes:
        if options.alternating:
            alive = {name: [boxes.start(name) for _ in range(options.boxes)] for name in found}
            for name, series in found.items():
                series += [[] for _ in alive[name]]
            for turn in turns:
                for number in range(options.boxes):
                    for name, series in found.items():
                        series[number].append(boxes.gates(name, alive[name][number], f"{number} {turn}"))
                print(
                    "  ".join(
                        f"{name} {_line([it[turn] for it in series])}" for name, series in found.items()
                    )
                )
        elif options.same_box:
            for number in range(options.boxes):
                for name, gates in boxes.together(number, turns).items():
                    found.setdefault(name, []).append(gates)
                boxes.close()
                print("  ".join(f"{name} {_line(series[-1])}" for name, series in found.items()), flush=True)
        else:
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
            it for it in subject.challenge.manifest.workloads if it.on == "gpu" and name in ("", it.name)
        ]
        workload = max(known, key=lambda it: math.prod(it.sizes.values()))
        return cls(narrowed(subject.challenge, [workload]), workload, language, subject.source)


@dataclass
class _Boxes:
    """Boxes with the control or the submission loaded, which live until ``close``."""

    kernel: Kernel
    device: Device
    maker: BoxMaker
    artefact: bytes | None
    other: Kernel | None = None
    _launchers: list[Launcher] = field(default_factory=list)
    _key: bytes = field(default_factory=lambda: os.urandom(32))

    def start(self, name: str) -> RunnerClient:
        launcher = self._launcher()
        return launcher.control() if name == "control" else launcher.submission()

    def together(self, number: int, turns: Sequence[int]) -> dict[str, list[list[float]]]:
        """Rounds in one box: the control's, another kernel's, the submission's, and the control's again."""
        control: list[list[float]] = []
        found = {"control": control}

        def ahead(client: RunnerClient) -> None:
            control.extend(self.gates("control", client, f"{number} {turn}") for turn in turns)
            if self.other is not None:
                self._launcher(self.other).load(client)
                found[_AHEAD] = [self._own(self.other, client, f"ahead {number} {turn}") for turn in turns]

        launcher = self._launcher()
        client = launcher.submission(ahead)
        own = [self.gates("vector_add", client, f"{number} {turn}") for turn in turns]
        launcher.load_control(client)
        behind = [self.gates("control", client, f"{number} {turn} behind") for turn in turns]
        return {**found, "vector_add": own, _BEHIND: behind}

    def _launcher(self, of: Kernel | None = None) -> Launcher:
        it = of or self.kernel
        request = Request(it.challenge, it.language, it.source, self.device.name, self._key, [])
        launcher = Launcher(request, self.device, self.maker, lambda: None, None if of else self.artefact)
        self._launchers.append(launcher)
        return launcher

    def gates(self, name: str, client: RunnerClient, part: str) -> list[float]:
        """Microseconds of each round, with the memory bound anew."""
        if name == "vector_add":
            return self._own(self.kernel, client, part)
        watch = self._stopwatch(self.kernel, f"{name} {part}")
        return [(it.gate - known) * 1e6 for it, known in watch.control(client)]

    def _own(self, of: Kernel, client: RunnerClient, part: str) -> list[float]:
        return [it.gate * 1e6 for it in self._stopwatch(of, part).own(client).rounds]

    def _stopwatch(self, of: Kernel, part: str) -> Stopwatch:
        return Stopwatch(of.challenge, of.workload, self._key, self.device, part)

    def close(self) -> None:
        while self._launchers:
            self._launchers.pop().close()


def _line(bindings: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{midmean(it):.2f}" for it in bindings)


def components(series: Sequence[Sequence[Sequence[float]]]) -> dict[str, float]:
    """Standard deviations: of chance, and what bindings and boxes add to it (0 where they seem to add nothing)."""
    chance = statistics.fmean(midmean_error(one) ** 2 for box in series for one in box)
    middles = [[midmean(one) for one in box] for box in series]
    within = statistics.fmean(statistics.variance(box) for box in middles)
    between = statistics.variance([statistics.fmean(box) for box in middles])
    added = {"bindings": within - chance, "boxes": between - within / len(middles[0])}
    return {
        "chance": round(math.sqrt(chance), 3),
        **{name: round(math.sqrt(max(0.0, it)), 3) for name, it in added.items()},
    }


def together(found: Mapping[str, Sequence[Sequence[Sequence[float]]]], control_name: str) -> dict[str, float]:
    """How the submission's times follow the costs of the controls in the same boxes: microseconds, by box."""
    control, own = (
        [statistics.fmean(midmean(it) for it in box) for box in found[name]]
        for name in (control_name, "vector_add")
    )
    slope, _ = statistics.linear_regression(control, own)
    # A control's cost is the same at any length; what another kernel takes longer grows with its time.
    scale = statistics.fmean(own) / statistics.fmean(control) if control_name == _AHEAD else 1.0
    return {
        "correlation": round(statistics.correlation(control, own), 3),
        "slope": round(slope, 3),
        "control": round(statistics.stdev(control), 3),
        "own": round(statistics.stdev(own), 3),
        "left": round(statistics.stdev(two - one * scale for one, two in zip(control, own, strict=True)), 3),
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
    which.add_argument("--same-box", action="store_true", help="a control ahead of the submission in its box")
    parser.add_argument("--language", default="cuda", choices=[it.value for it in Language])
    parser.add_argument(
        "--ahead", metavar="SLUG", help="with --same-box, in Triton: this challenge's kernel ahead"
    )
    options = parser.parse_args()
    if options.ahead and not (options.same_box and options.language == Language.TRITON.value):
        parser.error("--ahead needs --same-box --language triton: one box runs both")
    found = measure(options)
    rows: list[dict[str, Any]] = []
    for name, series in found.items():
        row = {"of": name, **components(series)}
        print(row, flush=True)
        packed = [[" ".join(f"{it:.2f}" for it in one) for one in box] for box in series]
        rows.append({**row, "us": packed})
    for name in [it for it in found if it != "vector_add"] if options.same_box else ():
        rows.append({"of": f"the same box, {name}", **together(found, name)})
        print(rows[-1], flush=True)
    if options.json:
        kind = (
            "_alternating" if options.alternating else f"_same_{options.language}" if options.same_box else ""
        )
        figures = {"workload": f"vector_add {WORKLOAD}", "rounds": options.rounds, "rows": rows}
        keep(f"boxes{kind}{'_ahead' if options.ahead else ''}", figures)


if __name__ == "__main__":
    main()
