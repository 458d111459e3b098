"""What the judge itself costs per case: everything but the submission's own running time.

Cases of the catalogue's ``vector_add`` at sizes up to 10^5 elements, Triton's interpreter excluded (from the gate's
opening to the answer). Prints one line per size and the median over all; target: under 5 ms.

Usage: python benchmarks/judge_cost.py [--json]
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from results import keep

from grader.challenge.cases import case
from grader.challenge.catalogue import find_catalogue
from grader.judge.host_device import HostDevice
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Verdict

SIZES = (0, 1, 1_000, 10_000, 100_000)
REPEATS = 15


def measure() -> dict[str, float]:
    """Median milliseconds per case, by size in elements, and over all of them."""
    catalogue = find_catalogue()
    source = (catalogue.root / "reference/vector_add/staff/solution.py").read_text()
    cases = [case(f"{size} #{number}", "basic", n=size) for size in SIZES for number in range(REPEATS)]
    request = Request(
        catalogue.load("vector_add"), Language.TRITON, source, CPU, b"benchmark", cases, timing=False
    )
    session = Session(request, HostDevice(), LocalBoxes(), lambda _: None, lambda: None)
    verdict = session.run().report.verdict
    if verdict is not Verdict.ACCEPTED:
        raise SystemExit(f"the solution was not accepted: {verdict}")
    costs = [seconds * 1e3 for seconds in session.own_seconds]
    by_size = {
        str(size): statistics.median(costs[place * REPEATS : (place + 1) * REPEATS])
        for place, size in enumerate(SIZES)
    }
    return {**by_size, "all": statistics.median(costs)}


def main() -> None:
    found = measure()
    for size, milliseconds in found.items():
        print(f"{size:>8} elements: {milliseconds:6.2f} ms of the judge's own per case (median of {REPEATS})")
    if "--json" in sys.argv:
        keep("judge_cost", {"unit": "ms per case, median", "by_elements": found, "target_ms": 5.0})
    if found["all"] >= 5.0:
        raise SystemExit("over the target of 5 ms")


if __name__ == "__main__":
    main()
