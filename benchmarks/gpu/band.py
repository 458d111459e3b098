"""What attacks on the clock gain over the honest kernel: each of ``attacks/`` graded like a submission, on one GPU.

An attack is DEFENDED if it is not accepted, gains at most 1.5 %, has no known time (and so no rank), or is flagged
``work_outside_gate``; else it is VULNERABLE. An attack whose constant is followed by ``// band: ...`` (in Python ``#
band: ...``) runs once with each of these values. Each is compared with the honest kernel of its language.

Usage: python benchmarks/gpu/band.py [--json] [--only NAME ...] [--honest K] [--again N] [--seconds S]
       [--box local|docker] [--missing]: only attacks that were not graded yet, by these very sources
       [--workload NAME]: of vector_add; another than the longest is kept in a file of its own
"""

from __future__ import annotations

import argparse
import re
import secrets
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradings import parts
from results import GO_ON, as_good, before, commit, keep, sources, today

from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.signature import cuda_footer
from grader.judge.device import Device, make_device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from grader.schemas.report import Flag, Report, Verdict

FOLDER = Path(__file__).resolve().parent / "attacks"
SHARED = FOLDER / "attack.cuh"
INCLUDE = '#include "attack.cuh"'
WORKLOAD = "2^28"
BAND_PERCENT = 1.5
# Two cases: that a submission is right is not the question here, and every timed output is compared anyway.
CASES = 2
# Seconds after which a hanging call ends its attack, and after which a whole attack is given up.
CASE_SECONDS = 5.0
ATTACK_SECONDS = 25.0
COMPILERS = 8
# name = value;  // band: values
VARIANTS = re.compile(
    r"^(?P<head>.*?(?P<name>\w+) = )[^;#\s]+(?P<tail>;?\s*(?://|#) band: (?P<values>.*))$", re.M
)


class OutOfTime(Exception):
    """This attack has had its time."""


@dataclass(frozen=True)
class Attack:
    """One source to grade. ``name``: the file's, with the constant that was chosen."""

    name: str
    language: Language
    source: str


@dataclass(frozen=True)
class Finding:
    """What grading one attack gave. Times in microseconds; ``gain`` over the honest kernel in percent."""

    name: str
    language: str
    verdict: str
    outcome: str
    time_us: float | None = None
    gain: float | None = None
    charged_us: float = 0.0
    gated: bool = True
    flags: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0

    def line(self) -> str:
        took = "-" if self.time_us is None else f"{self.time_us:.2f} us"
        gain = "-" if self.gain is None else f"{self.gain:+.2f} %"
        notes = ", ".join([*self.flags, *([] if self.gated else ["ungated"])]) or "-"
        return (
            f"{self.outcome:<10} {self.name:<28} {self.verdict:<14} {took:>11} {gain:>9}  "
            f"charged {self.charged_us:7.1f} us  {notes}  {self.detail}"
        ).rstrip()


class Range:
    """Grades sources on one device, with the one ranked workload and no baselines."""

    def __init__(self, device: Device, boxes: BoxMaker, workload: str = WORKLOAD) -> None:
        self.device, self.boxes = device, boxes
        self.catalogue = find_catalogue()
        self.workload = workload
        self.challenge = _one_workload(self.catalogue.load("vector_add"), workload)

    def honest(self, language: Language) -> str:
        return (self.catalogue.root / f"reference/vector_add/staff/solution{language.suffix}").read_text()

    def compile_ahead(self, sources: Sequence[str]) -> None:
        """Compile side by side; the compiler keeps the libraries for the gradings to come."""
        footer = cuda_footer(self.challenge.manifest)

        def compile_one(source: str) -> None:
            compile_cuda(self.boxes, CompileRequest(source, footer, arch=self.device.architecture))

        with ThreadPoolExecutor(COMPILERS) as pool:
            list(pool.map(compile_one, sources))

    def grade(self, source: str, language: Language) -> Report:
        """Raises OutOfTime, and what ``Session.run`` raises."""
        end = time.perf_counter() + ATTACK_SECONDS

        def interrupt() -> None:
            if time.perf_counter() > end:
                raise OutOfTime(f"not graded within {ATTACK_SECONDS:.0f} s")

        request = Request(
            challenge=self.challenge,
            language=language,
            source=source,
            device=self.device.name,
            seed_key=secrets.token_bytes(32),
            cases=self.challenge.cases[:CASES],
            baselines={self.workload: {"eager": 1.0, "compile": 1.0}},
        )
        session = Session(request, self.device, self.boxes, lambda _: None, interrupt)
        report = session.run().report
        for measured in session.measured.values():
            print(f"    {parts(measured)}")
        return report


def _one_workload(challenge: Challenge, name: str) -> Challenge:
    manifest = challenge.manifest
    workloads = [workload for workload in manifest.workloads if workload.name == name]
    if not workloads:
        raise SystemExit(
            f"no workload '{name}'; there are {', '.join(workload.name for workload in manifest.workloads)}"
        )
    limits = manifest.limits.model_copy(update={"case_seconds": CASE_SECONDS})
    return replace(challenge, manifest=manifest.model_copy(update={"workloads": workloads, "limits": limits}))


def attacks(only: Sequence[str] = ()) -> Iterator[Attack]:
    """All attacks, one per value of a ``band:`` constant. ``only``: beginnings of names."""
    for path in sorted(FOLDER.iterdir()):
        if path.suffix not in (".cu", ".py") or (only and not path.stem.startswith(tuple(only))):
            continue
        language = Language.CUDA if path.suffix == ".cu" else Language.TRITON
        source = path.read_text().replace(INCLUDE, SHARED.read_text())
        found = VARIANTS.search(source)
        if found is None:
            yield Attack(path.stem, language, source)
            continue
        for value in found["values"].split():
            chosen = VARIANTS.sub(rf"\g<head>{value}\g<tail>", source, count=1)
            yield Attack(f"{path.stem} {found['name']}={value}", language, chosen)


def judge(range_: Range, attack: Attack, honest_us: float) -> Finding:
    """Grade one attack. Whatever goes wrong with it is its finding, so that the others still run."""
    began = time.perf_counter()
    try:
        report = range_.grade(attack.source, attack.language)
    except Exception as error:  # an attack may break the judge in any way: that it did is the finding
        took = time.perf_counter() - began
        text = f"{type(error).__name__}: {error}"[:200]
        return Finding(attack.name, attack.language.value, "judge failed", "ERROR", detail=text, seconds=took)
    seconds = time.perf_counter() - began
    if report.verdict is not Verdict.ACCEPTED:
        detail = (report.detail or next((case.detail for case in report.cases if case.detail), ""))[:100]
        return Finding(
            attack.name,
            attack.language.value,
            report.verdict.value,
            "DEFENDED",
            detail=detail,
            seconds=seconds,
        )
    workload = report.workloads[0]
    gain = None if workload.time_us is None else (honest_us / workload.time_us - 1) * 100
    seen = Flag.WORK_OUTSIDE_GATE in report.flags
    return Finding(
        name=attack.name,
        language=attack.language.value,
        verdict=report.verdict.value,
        outcome="DEFENDED" if seen or gain is None or gain <= BAND_PERCENT else "VULNERABLE",
        time_us=workload.time_us,
        gain=gain,
        charged_us=workload.charged_us,
        gated=workload.gated,
        flags=tuple(flag.value for flag in report.flags),
        seconds=seconds,
    )


def honest_times(range_: Range, language: Language, count: int) -> list[float]:
    """Microseconds of ``count`` gradings of the staff's kernel. Raises SystemExit if it is not accepted."""
    times = []
    for _ in range(count):
        report = range_.grade(range_.honest(language), language)
        time_us = report.workloads[0].time_us if report.workloads else None
        if report.verdict is not Verdict.ACCEPTED or time_us is None:
            raise SystemExit(f"the honest {language} kernel: {report.verdict}: {report.detail}")
        times.append(time_us)
        notes = f"charged {report.workloads[0].charged_us:.1f} us {[flag.value for flag in report.flags]}"
        print(f"honest {language.value:<8} {times[-1]:.2f} us  {notes}", flush=True)
    return times


@dataclass
class Kept:
    """The file of results: it grows with each finding, as what ends this program may be the end of a lease. What was
    found of other attacks by these very sources stays."""

    options: argparse.Namespace
    honest: dict[Language, list[float]]

    def __post_init__(self) -> None:
        name = self.options.workload
        self.name = "band" if name == WORKLOAD else f"band_{name}".replace(" ", "_")
        old = before(self.name)
        same = old.get("boxes") == self.options.box
        rows = [attack for attack in old.get("attacks", []) if same and attack.get("sources") in as_good()]
        self._old = [row for row in rows if row["outcome"] not in ("NOT RUN", "ERROR")]
        self._honest = old.get("honest_us", {}) if self._old else {}

    @property
    def known(self) -> set[str]:
        return {row["name"] for row in self._old}

    def write(self, findings: Sequence[Finding]) -> None:
        stamp = {"commit": commit(), "sources": sources(), "measured": today()}
        names = {finding.name for finding in findings}
        new = [{**asdict(finding), **stamp} for finding in findings]
        figures = {
            "workload": f"vector_add {self.options.workload}",
            "boxes": self.options.box,
            "band_percent": BAND_PERCENT,
            "honest_us": self._honest | {language.value: times for language, times in self.honest.items()},
            "attacks": [*(row for row in self._old if row["name"] not in names), *new],
        }
        keep(self.name, figures)


def main() -> int:
    options = _options()
    began = time.perf_counter()
    honest: dict[Language, list[float]] = {}
    kept = Kept(options, honest)
    known = kept.known if options.missing else set()
    chosen = [
        attack for attack in attacks(options.only) if attack.name not in known for _ in range(options.again)
    ]
    if not chosen:
        print("nothing is missing")
        return 0
    range_ = Range(make_device("h200", options.gpu), make_boxes(options.box), options.workload)
    # CUDA first: Triton's boxes take three times as long to start, and the clock may run out.
    chosen.sort(key=lambda attack: attack.language is Language.TRITON)
    cuda = [attack.source for attack in chosen if attack.language is Language.CUDA]
    range_.compile_ahead([*dict.fromkeys([range_.honest(Language.CUDA), *cuda])])
    print(f"compiled {len(set(cuda)) + 1} sources in {time.perf_counter() - began:.1f} s", flush=True)
    findings: list[Finding] = []
    left = 0
    for attack in chosen:
        if time.perf_counter() - began > options.seconds:
            finding = Finding(attack.name, attack.language.value, "not run", "NOT RUN")
            left += 1
        else:
            if attack.language not in honest:
                count = options.honest if attack.language is Language.CUDA else 1
                honest[attack.language] = honest_times(range_, attack.language, count)
            finding = judge(range_, attack, statistics.median(honest[attack.language]))
        findings.append(finding)
        print(finding.line(), flush=True)
        if options.json:
            kept.write(findings)
    range_.boxes.reap()
    _summarise(findings, time.perf_counter() - began)
    return GO_ON if left else int(any(finding.outcome in ("VULNERABLE", "ERROR") for finding in findings))


def _summarise(findings: Sequence[Finding], seconds: float) -> None:
    counts = {
        outcome: sum(other.outcome == outcome for other in findings)
        for outcome in {one.outcome for one in findings}
    }
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())), f"in {seconds:.0f} s")
    unseen = [
        finding
        for finding in findings
        if finding.gain is not None and Flag.WORK_OUTSIDE_GATE.value not in finding.flags
    ]
    if unseen:
        best = max(unseen, key=lambda finding: finding.gain or 0.0)
        print(f"best gain without the flag: {best.gain:+.2f} % by {best.name}; the band is {BAND_PERCENT} %")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="keep the figures in benchmarks/results")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--box", default="local", choices=("local", "docker"))
    parser.add_argument("--workload", default=WORKLOAD, help="of vector_add")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="beginnings of attacks' names")
    parser.add_argument("--honest", type=int, default=3, metavar="K", help="gradings of the honest kernel")
    parser.add_argument("--again", type=int, default=1, metavar="N", help="gradings of each attack")
    parser.add_argument(
        "--missing", action="store_true", help="only what was not graded yet, of these sources"
    )
    parser.add_argument("--seconds", type=float, default=210, help="start no attack after so long")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
