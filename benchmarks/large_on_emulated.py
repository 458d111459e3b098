"""What the emulated GPU says of the cases for a GPU alone: each solution must pass them, and each kernel of
benchmarks/narrow, whose indices have 32 bits or whose grid is beyond the limits, must fail one.

A row for each submission: of each case the verdict, the seconds and what was said. A case that is not covered counts
for neither. The kernels run on a card, too: `benchmarks/gpu/agreement.py` compares the two.

Usage: python benchmarks/large_on_emulated.py [SLUG[/FILE] ...] [--json]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep, merged

from grader.authoring.candidates import Candidate
from grader.authoring.trial import Trial
from grader.challenge.cases import Case
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.pattern import cases_on
from grader.device_kinds import EMULATED, kind_of
from grader.judge.correctness import Suite
from grader.judge.device import Device, make_device
from grader.judge.tuning import tune
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.schemas.proof import CandidateRole
from grader.schemas.report import CaseReport, CaseVerdict

NARROW = Path(__file__).parent / "narrow"


@dataclass
class Row:
    """``cases``: verdict, seconds and message by name. ``right``: as it must be."""

    name: str
    right: bool
    cases: dict[str, tuple[str, float, str]] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        yield f"{'ok   ' if self.right else 'WRONG'} {self.name}"
        for name, (verdict, seconds, detail) in self.cases.items():
            yield f"      {name:<14}{verdict:<15}{seconds:6.2f} s  {detail}"


def large_cases(challenge: Challenge) -> list[Case]:
    return [case for case in cases_on(challenge, kind_of(EMULATED)) if case.on]


def sources(slug: str, catalogue: Catalogue) -> list[tuple[Path, bool]]:
    """Files of a challenge, and whether they are right."""
    staff = catalogue.load(slug).reference_folder / "staff"
    right = [(staff / f"solution{language.suffix}", True) for language in Language]
    narrow = [(path, False) for path in sorted(NARROW.joinpath(slug).glob("*")) if path.is_file()]
    return [pair for pair in [*right, *narrow] if pair[0].exists()]


def judged(
    challenge: Challenge, path: Path, device: Device, boxes: BoxMaker
) -> list[tuple[CaseReport, float]]:
    """Each large case, and the seconds that it took."""
    language = next(language for language in Language if language.suffix == path.suffix)
    candidate = Candidate(CandidateRole.SOLUTION, path.name, language, path.read_text())
    trial, cases = Trial(challenge, device, boxes), large_cases(challenge)
    launcher = trial.launcher(candidate, cases)
    times: list[float] = []
    try:
        if (prevented := trial.compile_into(launcher, candidate)) is not None:
            raise SystemExit(f"{path}: {prevented[1]}")
        suite = Suite(
            challenge=challenge,
            cases=cases,
            seed_of=launcher.request.seed_of,
            start=launcher.submission,
            on_case=lambda *_: times.append(time.perf_counter()),
            device=device,
        )
        suite.run(launcher.submission())
    finally:
        launcher.close()
    return [(report, times[place + 1] - times[place]) for place, report in enumerate(suite.reports)]


def row(challenge: Challenge, path: Path, right: bool, device: Device, boxes: BoxMaker) -> Row:
    found = judged(challenge, path, device, boxes)
    failed = any(case.verdict.holds_back for case, _ in found)
    says = any(case.verdict is not CaseVerdict.NOT_COVERED for case, _ in found)
    cases = {
        case.name: (case.verdict.value, round(seconds, 2), case.detail.replace("\n", " ")[:200])
        for case, seconds in found
    }
    return Row(f"{challenge.slug}/{path.name}", failed != right and (says or right), cases)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("wanted", nargs="*", help="challenges, or files of them")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tune()
    device, boxes, catalogue = make_device(EMULATED), make_boxes("local"), find_catalogue()
    rows = []
    for slug in catalogue.slugs():
        challenge = catalogue.load(slug)
        for path, right in sources(slug, catalogue) if large_cases(challenge) else ():
            if options.wanted and not {slug, f"{slug}/{path.name}"} & set(options.wanted):
                continue
            rows.append(row(challenge, path, right, device, boxes))
            print("\n".join(rows[-1].lines()), flush=True)
    if options.json:
        keep(
            "large_on_emulated", {"rows": merged("large_on_emulated", [asdict(row) for row in rows], "name")}
        )
    print(f"{sum(row.right for row in rows)} of {len(rows)} as they must be")
    return 0 if all(row.right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
