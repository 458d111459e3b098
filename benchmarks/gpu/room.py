"""Which cases cards of some sizes leave out for want of memory: arithmetic alone, for any machine.

A row for each case that is for a GPU alone: GiB of its arrays, of what judging adds, of what the timed rounds keep,
and whether it fits. A context, spare boxes and a display are assumed to hold some memory.

Usage: python benchmarks/gpu/room.py [--gib 80 ...] [SLUG ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.challenge.catalogue import find_catalogue
from grader.judge.cuda.memory import KEPT_SHARE
from grader.judge.cuda.memory_needs import case_bytes, kept_bytes, own_bytes
from grader.judge.cuda.memory_plan import PLANNED_SHARE, TAKEN_BYTES
from grader.limits import GIB

# The share of its nominal GiB that a card has.
HAS = 0.99


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--gib", type=float, nargs="*", default=[80.0, 48.0, 40.0, 24.0])
    options = parser.parse_args()
    catalogue, left_out, number = find_catalogue(), dict.fromkeys(options.gib, 0), 0
    print(f"{'case':<44}{'own':>6}{'judging':>9}{'kept':>6}  " + "".join(f"{gib:>8g}" for gib in options.gib))
    for slug in options.slugs or catalogue.slugs():
        challenge = catalogue.load(slug)
        for case in challenge.suite("gpu"):
            if case.on is None:
                continue
            number += 1
            own, needed = own_bytes(challenge.manifest, case.sizes), case_bytes(challenge, case)
            marks = []
            for gib in options.gib:
                total = gib * HAS * GIB
                kept = min(kept_bytes(challenge), 2 * KEPT_SHARE * total)
                fits = kept + needed <= (total - TAKEN_BYTES) * PLANNED_SHARE
                left_out[gib] += not fits
                marks.append(f"{'fits' if fits else 'OUT':>8}")
            sizes = f"{own / GIB:>6.1f}{needed / GIB:>9.1f}{kept_bytes(challenge) / GIB:>6.1f}"
            print(f"{slug + ' ' + case.name:<44}{sizes}  {''.join(marks)}")
    for gib, out in left_out.items():
        print(f"{gib:g} GiB: {out} of {number} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
