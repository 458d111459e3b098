"""Shows what a time is made of: the rounds of control and subject, their gate times, windows and spread.

Usage: python3 benchmarks/gpu/rounds.py [SLUG [LANGUAGE [GRADINGS [BOXES]]]]    (default: vector_add cuda 3 local)
GRADER_CHALLENGES may name another catalogue. Only workloads that are ranked are shown.

For each grading and workload it prints quantiles, in microseconds, of G - known length (control, before and after),
of G (subject), and of what lies before and after the gate (both). A fixed cost that wanders shows here first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gradings import parts

from grader.challenge.catalogue import find_catalogue
from grader.challenge.signature import cuda_footer
from grader.judge.device import make_device
from grader.judge.launch import Launcher
from grader.judge.request import Request
from grader.judge.roofline import is_ranked
from grader.judge.rule import settle
from grader.judge.timing import Stopwatch
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.choose import make_boxes
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda


def quantiles(seconds: Sequence[float]) -> str:
    ordered = sorted(value * 1e6 for value in seconds)
    picks = [ordered[int(share * (len(ordered) - 1))] for share in (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)]
    return "  ".join(f"{pick:9.1f}" for pick in picks)


def main() -> None:
    slug, language, count, kind = (*sys.argv[1:], *("vector_add", "cuda", "3", "local")[len(sys.argv) - 1 :])
    tune()
    device, boxes = make_device("h200", 0), make_boxes(kind)
    chosen_catalogue = os.environ.get("GRADER_CHALLENGES")
    catalogue = find_catalogue(Path(chosen_catalogue) if chosen_catalogue else None)
    challenge, chosen = catalogue.load(slug), Language.named(language)
    source = (catalogue.root / "reference" / slug / "staff" / f"solution{chosen.suffix}").read_text()
    request = Request(challenge, chosen, source, device.name, b"rounds" * 6, [])
    artefact = None
    if chosen is Language.CUDA:
        footer = cuda_footer(challenge.manifest)
        compiled = compile_cuda(boxes, CompileRequest(source, footer, arch=device.architecture))
        artefact = compiled.artefact
    print(f"{'':34}{'min':>9}  {'5 %':>9}  {'25 %':>9}  {'median':>9}  {'75 %':>9}  {'95 %':>9}  {'max':>9}")
    for grading in range(int(count)):
        launcher = Launcher(request, device, boxes, lambda: None, artefact)
        control = launcher.control()
        for workload in request.workloads:
            if not is_ranked(challenge.manifest, workload, device):
                continue
            watch = lambda part, chosen=workload: Stopwatch(challenge, chosen, request.seed_key, device, part)  # noqa: E731
            before = watch("before").control(control)
            subject = launcher.submission()
            own = watch("own").own(subject)
            subject.close()
            after = watch("after").control(control)
            print(f"grading {grading}, {workload.name}")
            for name, half in (("before", before), ("after", after)):
                print(
                    f"  {name + ': G - known':32}{quantiles([timing.gate - known for timing, known in half])}"
                )
                print(f"  {name + ': known':32}{quantiles([known for _, known in half])}")
                print(f"  {name + ': before the gate':32}{quantiles([timing.before for timing, _ in half])}")
                print(f"  {name + ': after the gate':32}{quantiles([timing.after for timing, _ in half])}")
            print(f"  {'own: G':32}{quantiles([timing.gate for timing in own.rounds])}")
            print(f"  {'own: before the gate':32}{quantiles([timing.before for timing in own.rounds])}")
            print(f"  {'own: after the gate':32}{quantiles([timing.after for timing in own.rounds])}")
            found = settle(own, before, after, device.noise)
            print(f"  {parts(found)}  gated {found.gated}")
            print(f"  first rounds {[round(timing.gate * 1e6, 1) for timing in own.rounds[:8]]}", flush=True)
        launcher.close()


if __name__ == "__main__":
    main()
