"""Whether the emulated GPU and a card agree: the verdict of each case of every solution and mutant in CUDA, of every
solution in Triton, of benchmarks/variants and of the hostile suite's honest controls; and the order of the times at the
sizes for a processor. SLUG names a challenge, SLUG/FILE one of its sources, controls the controls.

    python benchmarks/gpu/agreement.py --device h200 --json      on the card's machine
    python benchmarks/gpu/agreement.py --device emulated --json  anywhere
    ... --missing                                                only sources that this half lacks, CUDA first
    python benchmarks/gpu/agreement.py --compare                 both kept: the table of differences

Both see the same inputs: seeds are fixed, and inputs are drawn on the processor. Times are of the sizes that the board
``emulated`` ranks, on a card by the judge's gate.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import FOLDER, GO_ON, keep, merged

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.loader import Challenge
from grader.device_kinds import EMULATED
from grader.judge.compilation import compile_source, request_of
from grader.judge.device import Device, TimingPlan, make_device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.schemas.report import Verdict
from tests.hostile import suite

ROOT = Path(__file__).resolve().parents[2]
NAME = "agreement"
PLAN = TimingPlan(rounds=15, most_rounds=15, control_rounds=8, warm_up=2, seconds=3.0)
COMPILE_THREADS = 14
# Baselines do not matter here, and each takes a box.
NO_BASELINES = {"eager": None, "compile": None}


# Of the tests' own catalogue, in place of a slug.
CONTROLS = "controls"
CATALOGUE_OF_CONTROLS = ROOT / "tests" / "catalogue"


@dataclass(frozen=True)
class Subject:
    """A source for the challenge ``slug``, of the served catalogue or of the tests'. ``group``: the first word
    of its name if that is not the slug."""

    slug: str
    path: Path
    group: str = ""

    @property
    def name(self) -> str:
        return f"{self.group or self.slug}/{self.path.name}"

    def challenge(self, catalogue: Catalogue) -> Challenge:
        return (Catalogue(CATALOGUE_OF_CONTROLS) if self.group == CONTROLS else catalogue).load(self.slug)

    @property
    def language(self) -> Language:
        found = Language.of_file(self.path.name)
        assert found is not None
        return found

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


def subjects(catalogue: Catalogue, wanted: Sequence[str]) -> Iterator[Subject]:
    """``wanted``: slugs, ``CONTROLS``, or names of subjects; all if empty."""
    every = [*of_catalogue(catalogue), *controls()]
    yield from (
        subject
        for subject in every
        if not wanted or {subject.name, subject.group or subject.slug} & set(wanted)
    )


def controls() -> Iterator[Subject]:
    """Those that a GPU may judge."""
    for entry in suite.load((suite.CONTROL,)):
        if "gpu" in entry.devices:
            yield Subject(
                entry.fields["Challenge"], suite.CONTROLS / f"{entry.name}{entry.language.suffix}", CONTROLS
            )


def of_catalogue(catalogue: Catalogue) -> Iterator[Subject]:
    """Of challenges on one GPU."""
    for slug in catalogue.slugs():
        if catalogue.load(slug).manifest.gpus > 1:
            continue
        staff = ROOT / "reference" / slug / "staff"
        variants = ROOT / "benchmarks" / "variants" / slug
        for folder, pattern in (
            (staff, "solution.*"),
            (staff / "mutants", "*.cu"),
            (variants, "*.cu"),
            (variants, "*.py"),
        ):
            yield from (Subject(slug, path) for path in sorted(folder.glob(pattern)))


def for_device(challenge: Challenge, device: Device) -> Challenge:
    """The challenge with the sizes for a processor as its only ones, whatever the device."""
    on = "cpu" if device.name == EMULATED else "gpu"
    chosen = [
        workload.model_copy(update={"on": on})
        for workload in challenge.manifest.workloads
        if workload.on == "cpu"
    ]
    return replace(challenge, manifest=challenge.manifest.model_copy(update={"workloads": chosen}))


def judged(subject: Subject, catalogue: Catalogue, device: Device, boxes: BoxMaker) -> dict[str, Any]:
    challenge = for_device(subject.challenge(catalogue), device)
    request = Request(
        challenge=challenge,
        language=subject.language,
        source=subject.source,
        device=device.name,
        seed_key=hashlib.sha256(f"agreement: {subject.slug}".encode()).digest(),
        cases=challenge.cases,
        baselines={workload.name: NO_BASELINES for workload in challenge.manifest.workloads},
    )
    began = time.perf_counter()
    report = Session(request, device, boxes, lambda _: None, interrupt=lambda: None).run().report
    return {
        "name": subject.name,
        "source": subject.digest,
        "verdict": report.verdict.value,
        "cases": {case.name: case.verdict.value for case in report.cases if not case.hidden},
        "details": {
            case.name: case.detail[:300]
            for case in report.cases
            if not case.hidden and case.verdict.value != "accepted"
        },
        "times_us": {workload.name: workload.time_us for workload in report.workloads},
        "took_s": round(time.perf_counter() - began, 2),
        "detail": report.detail[:300] if report.verdict is Verdict.COMPILE_ERROR else "",
    }


def compile_ahead(wanted: Sequence[Subject], catalogue: Catalogue, device: Device, boxes: BoxMaker) -> None:
    """Into the compiler's cache."""

    def one(subject: Subject) -> None:
        challenge = subject.challenge(catalogue)
        compile_source(boxes, request_of(challenge, subject.language, subject.source, device.architecture))

    with ThreadPoolExecutor(COMPILE_THREADS) as pool:
        list(pool.map(one, [candidate for candidate in wanted if candidate.language.compiled]))


def measure(options: argparse.Namespace) -> int:
    catalogue, boxes = find_catalogue(), make_boxes("local")
    device = make_device(options.device, options.gpu)
    type(device).plan = PLAN
    half = f"{NAME}_{'emulated' if device.name == EMULATED else 'card'}"
    wanted = list(subjects(catalogue, options.slugs))
    if options.missing:
        # Earlier rows do not say what their source was.
        kept = {row["name"]: row.get("source") for row in kept_rows(half)}
        wanted = sorted(
            (
                candidate
                for candidate in wanted
                if kept.get(candidate.name, "") not in (candidate.digest, None)
            ),
            key=lambda candidate: (not candidate.language.compiled, candidate.name),
        )
    began = time.perf_counter()
    if device.name != EMULATED:
        compile_ahead(wanted, catalogue, device, boxes)
        print(f"compiled after {time.perf_counter() - began:.0f} s", flush=True)
    rows: list[dict[str, Any]] = []
    left = 0
    for number, subject in enumerate(wanted):
        if time.perf_counter() - began > options.seconds:
            left = len(wanted) - number
            print(f"{left} left for want of time")
            break
        try:
            rows.append(judged(subject, catalogue, device, boxes))
        except Exception as error:  # one that cannot be judged must not cost the others
            print(f"{subject.name}: {type(error).__name__}: {error}", flush=True)
            continue
        print(
            f"{rows[-1]['name']:50} {rows[-1]['verdict']:14} {rows[-1]['times_us']} {rows[-1]['took_s']} s",
            flush=True,
        )
    if options.json:
        keep(half, {"rows": merged(half, rows, "name")})
    return GO_ON if left else 0


def kept_rows(half: str) -> list[dict[str, Any]]:
    """Of every machine; where several judged one source, the newest comes last."""
    kept = [json.loads(path.read_text()) for path in FOLDER.glob(f"{half}-*.json")]
    rows = [{"measured": run["measured"], **row} for run in kept for row in run["figures"]["rows"]]
    return sorted(rows, key=lambda row: str(row["measured"]))


def compare() -> int:
    """Raises SystemExit where one of the two was not measured."""
    both: dict[str, dict[str, Any]] = {}
    for half in ("card", "emulated"):
        rows = kept_rows(f"{NAME}_{half}")
        if not rows:
            raise SystemExit(f"{NAME}_{half} was not measured yet: see --help")
        both[half] = {row["name"]: row for row in rows}
    cases = different = alone = 0
    for name in sorted(both["card"].keys() & both["emulated"].keys()):
        card, emulated = both["card"][name], both["emulated"][name]
        # Sources that do not compile have no cases. Large cases are a card's alone; some are newer than the results.
        every, common = (
            card["cases"].keys() | emulated["cases"].keys(),
            card["cases"].keys() & emulated["cases"].keys(),
        )
        compared = common if card["cases"] and emulated["cases"] else every
        alone += len(every) - len(compared)
        for case in sorted(compared):
            cases += 1
            verdicts = [row["cases"].get(case, row["verdict"]) for row in (card, emulated)]
            if verdicts[0] != verdicts[1]:
                different += 1
                why = emulated["details"].get(case) or emulated["detail"]
                print(f"{name:48} {case:24} card {verdicts[0]:14} emulated {verdicts[1]:14} {why[:110]}")
    sources = len(both["card"].keys() & both["emulated"].keys())
    print(
        f"{cases - different} of {cases} cases agree, of {sources} sources; {alone} more had one of the two alone"
    )
    _correlate(both["card"], both["emulated"])
    return 0


def _correlate(card: dict[str, Any], emulated: dict[str, Any]) -> None:
    """Spearman's rank correlation of the times, over all and by challenge."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for name in card.keys() & emulated.keys():
        for workload, seconds in card[name]["times_us"].items():
            modelled = emulated[name]["times_us"].get(workload)
            if seconds and modelled:
                pairs.setdefault(name.partition("/")[0], []).append((seconds, modelled))
    for slug, each in sorted(pairs.items()):
        shown = ", ".join(f"{measured:.1f}/{modelled:.1f}" for measured, modelled in sorted(each))
        rank = f"{spearman(each):.2f}" if len(each) > 2 else "    "
        print(f"{slug:24} {rank} card/model us: {shown}")
    every = [pair for each in pairs.values() for pair in each]
    if len(every) > 2:
        print(f"over all {len(every)}: {spearman(every):.3f}")


def spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Of two sequences given as pairs; equal values share their mean rank."""
    import torch

    ranks = []
    for values in zip(*pairs, strict=True):
        ordered = sorted(values)
        ranks.append([ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values])
    return float(torch.corrcoef(torch.tensor(ranks, dtype=torch.float64))[0, 1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("slugs", nargs="*", metavar="SLUG")
    parser.add_argument("--device", default=EMULATED)
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=540.0, help="begin nothing more after this")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    return compare() if options.compare else measure(options)


if __name__ == "__main__":
    sys.exit(main())
