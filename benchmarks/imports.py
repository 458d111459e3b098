"""Which problems of other platforms become challenges, and why the others do not.

Usage: python benchmarks/imports.py [--prove] [--json] PATH [PATH ...]

Each path is what `grader challenge import` takes. ``--prove`` also judges the stand-in solution, PyTorch's own
operations, by every case on the board ``cpu``. Rows of earlier runs stay.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from results import keep, merged

from grader.authoring.candidates import subjects
from grader.authoring.importing.challenge import write_imported
from grader.authoring.importing.source import read
from grader.authoring.trial import Trial
from grader.challenge.catalogue import Catalogue
from grader.errors import GraderError
from grader.judge.host_device import HostDevice
from grader.judge.tuning import tune
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.proof import CandidateRole


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("paths", nargs="+", type=Path)
    options = parser.parse_args()
    tune()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for part in ("challenges", "reference"):
            (Path(folder) / part).mkdir()
        for number, path in enumerate(options.paths):
            row = _imported(Catalogue(Path(folder)), path.resolve(), f"p{number}", options.prove)
            rows.append(row)
            if options.json:
                keep("imports", {"rows": merged("imports", [row], "problem")})
            print(
                f"{row['result']:10} {row['seconds']:5.1f} s  {row['problem']}  {row['detail']}", flush=True
            )
    done = sum(row["result"] in ("imported", "accepted") for row in rows)
    print(f"{done} of {len(rows)} are challenges now")
    return 0


def _imported(catalogue: Catalogue, path: Path, slug: str, prove: bool) -> dict[str, Any]:
    """``result``: imported, accepted (its stand-in is, too), not accepted, or refused with the reason."""
    began = time.perf_counter()
    row: dict[str, Any] = {"problem": "/".join(path.parts[-3:]), "result": "refused", "detail": ""}
    try:
        problem = read(str(path), path)
        write_imported(catalogue, problem, slug, "tests", "easy")
        cases = len(catalogue.load(slug).cases)
        row |= {"format": problem.format, "result": "imported", "detail": f"{cases} cases"}
        if prove:
            row |= _proven(catalogue, slug, cases)
    except GraderError as error:
        row["detail"] = error.message
    return {**row, "seconds": round(time.perf_counter() - began, 1)}


def _proven(catalogue: Catalogue, slug: str, cases: int) -> dict[str, str]:
    challenge, boxes = catalogue.load(slug), ForkedBoxes()
    try:
        (solution,) = [
            candidate
            for candidate in subjects(challenge, tuple(challenge.manifest.languages))
            if candidate.role is CandidateRole.SOLUTION
        ]
        tried = Trial(challenge, HostDevice(), boxes).try_out(solution, every_case=True)
    finally:
        boxes.close()
    if tried.failed or tried.ending.value != "accepted":
        return {
            "result": "not right",
            "detail": f"{len(tried.failed)} of {tried.ran} cases: {tried.detail}"[:300],
        }
    return {"result": "accepted", "detail": f"{cases} public cases, {tried.ran} in all"}


if __name__ == "__main__":
    raise SystemExit(main())
