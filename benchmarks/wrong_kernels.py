"""Whether the sentences that a wrong kernel gets name its mistake.

    python benchmarks/wrong_kernels.py [--json] [--jobs N] [--folder FOLDER] [--all] [CHALLENGE | CHALLENGE/FILE ...]

Judges each kernel of ``FOLDER/<challenge>/`` on the emulated board with the challenge's public cases, and reads what
its author sees first: the first finding's detail and hint. A kernel's first comment lines say what is expected:

- ``Mistake:`` the mistake in plain words.
- ``Says:`` regular expressions, separated by `` ; ``. Each must match, in any case of letters.
- Lines that end in a comment ``HERE``: at least one of them must be named.

Kernels without these lines are judged and printed only.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep, merged

from grader.advice import advise, same_findings
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.device_kinds import EMULATED
from grader.judge.device import Device, make_device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import make_boxes
from grader.schemas.report import Report, Verdict

FOLDER = Path(__file__).resolve().parent / "wrong"
_FIELD = re.compile(r"^(?://|#) (Mistake|Says): (.*)$", re.MULTILINE)
_HERE = re.compile(r"(?://|#) HERE\s*$")
_SEED = bytes(32)


@dataclass(frozen=True)
class Kernel:
    slug: str
    path: Path

    @property
    def name(self) -> str:
        return f"{self.slug}/{self.path.name}"

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def fields(self) -> dict[str, str]:
        return {match[1]: match[2].strip() for match in _FIELD.finditer(self.source)}

    @property
    def lines(self) -> list[int]:
        return [number for number, line in enumerate(self.source.split("\n"), 1) if _HERE.search(line)]

    def missed(self, said: str) -> list[str]:
        """What is expected and not in ``said``."""
        wanted = [part.strip() for part in self.fields.get("Says", "").split(" ; ") if part.strip()]
        found = [part for part in wanted if not re.search(part, said, re.IGNORECASE)]
        lines = self.lines
        if lines and not any(
            re.search(rf"\blines? (?:\d+ and )?{line}\b", said, re.IGNORECASE) for line in lines
        ):
            found.append(f"line {' or '.join(map(str, lines))}")
        return found


def kernels(folder: Path, wanted: Sequence[str]) -> list[Kernel]:
    found = [
        Kernel(path.parent.name, path)
        for path in sorted(folder.glob("*/*"))
        if Language.of_file(path.name) is not None
    ]
    return [kernel for kernel in found if not wanted or {kernel.name, kernel.slug} & set(wanted)]


def judged(kernel: Kernel, catalogue: Catalogue, device: Device, boxes: BoxMaker) -> Report:
    challenge, language = catalogue.load(kernel.slug), Language.of_file(kernel.path.name)
    assert language is not None
    request = Request(challenge, language, kernel.source, EMULATED, _SEED, challenge.cases, timing=False)
    return Session(request, device, boxes, lambda _: None, interrupt=lambda: None).run().report


def findings(report: Report) -> list[tuple[str, str]]:
    """Case, and detail with hint, of each finding, as the page lists them."""
    failing = [case for case in report.cases if case.verdict.failed]
    if not failing:
        return [("", "\n".join(part for part in (report.detail, report.compiler_log, report.hint) if part))]
    return [
        (group[0].name, f"{group[0].detail}\n{group[0].hint}".strip()) for group in same_findings(failing)
    ]


def row_of(kernel: Kernel) -> tuple[dict[str, Any], list[tuple[str, str]], int | None, float]:
    """What is kept, every finding, the line that is advised, and seconds."""
    catalogue, boxes, device = find_catalogue(), make_boxes("local"), make_device(EMULATED)
    began = time.perf_counter()
    report = judged(kernel, catalogue, device, boxes)
    found = findings(report)
    case, said = found[0]
    missed = ["any fault"] if report.verdict is Verdict.ACCEPTED else kernel.missed(said)
    row = {
        "name": kernel.name,
        "mistake": kernel.fields.get("Mistake", ""),
        "verdict": report.verdict.value,
        "case": case,
        "says": said,
        "missed": missed,
        "named": not missed,
    }
    return row, found, advise(report).line, time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--all", action="store_true", help="print every finding")
    parser.add_argument("--jobs", type=int, default=1, help="kernels that are judged at once")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        judging = [pool.submit(row_of, kernel) for kernel in kernels(options.folder, options.names)]
        for future in as_completed(judging):
            row, found, line, took = future.result()
            rows.append(row)
            print(f"\n{'ok  ' if row['named'] else 'MISS'} {row['name']}  [{row['verdict']}, {took:.1f} s]")
            print(f"     mistake: {row['mistake']}")
            if row["missed"]:
                print(f"     misses: {row['missed']}")
            for name, text in found if options.all else found[:1]:
                shown = f"{name}{f' (line {line})' if line else ''}: {text}"
                print(textwrap.indent("\n".join(textwrap.wrap(shown, 150)), "     "), flush=True)
            for name, text in found[1:4] if row["missed"] and not options.all else ():
                wrapped = "\n".join(textwrap.wrap(f"then {name}: {text}", 150))
                print(textwrap.indent(wrapped, "       "), flush=True)
            if options.json and row["mistake"]:
                kept = merged("wrong_kernels", [row for row in rows if row["mistake"]], "name")
                keep(
                    "wrong_kernels",
                    {"named": sum(each["named"] for each in kept), "of": len(kept), "rows": kept},
                )
    expected = [row for row in rows if row["mistake"]]
    named = sum(row["named"] for row in expected)
    print(f"\n{named} of {len(expected)} kernels get a sentence that names their mistake")
    return 0 if named == len(expected) else 1


if __name__ == "__main__":
    sys.exit(main())
