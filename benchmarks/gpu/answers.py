"""How long the judge takes for a timed round's question: to draw the inputs, and to compute what is right.

For the longest workload of each challenge, by the GPU, medians in milliseconds: ``draw``; ``whole``, the reference on
float64 copies of all inputs at once; and in pieces of 2^20 to 2^25 elements of the largest array, where the challenge
says how to cut. Pieces that fit the cache with all their copies spare the memory most of the way there and back; many
small ones wait for Python. ``CACHED_ELEMENTS`` (grader/judge/pieces.py) comes from here.

Usage: python benchmarks/gpu/answers.py [--json] [--gpu N] [--only SLUG ...] [--times N]
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import keep
from subjects import workloads

from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.judge import pieces
from grader.judge.device import Device, make_device
from grader.judge.oracle import answers, draw_for, workload_case
from grader.judge.tuning import tune

SIZES = range(20, 26)
# So many elements of the largest array are more than any workload has.
_WHOLE = 1 << 62


def measure(challenge: Challenge, device: Device, times: int) -> dict[str, Any]:
    known = workloads(challenge, device, ranked_only=False)
    manifest = challenge.manifest
    workload = max(
        known, key=lambda it: sum(math.prod(manifest.shape(arg, it.sizes)) for arg in manifest.buffers)
    )
    case = workload_case(challenge, workload)

    def taken(work: Callable[[], Any]) -> float:
        seconds = []
        for _ in range(times + 1):  # the first allocates
            torch.cuda.synchronize()
            began = time.perf_counter()
            work()
            torch.cuda.synchronize()
            seconds.append(time.perf_counter() - began)
        return round(statistics.median(seconds[1:]) * 1e3, 2)

    row: dict[str, Any] = {"challenge": challenge.slug, "workload": workload.name}
    row["draw"] = taken(lambda: draw_for(challenge, case, 1, "cuda", "cuda", device.room))
    inputs = draw_for(challenge, case, 1, "cuda", "cuda", device.room)
    used = pieces.CACHED_ELEMENTS
    row["now"] = taken(lambda: answers(challenge, case, inputs, device.room))
    for name, elements in {"whole": _WHOLE, **{f"2^{it}": 1 << it for it in SIZES}}.items():
        if manifest.pieces is None and name != "whole":
            continue
        pieces.CACHED_ELEMENTS = elements
        row[name] = taken(lambda: answers(challenge, case, inputs, device.room))
    pieces.CACHED_ELEMENTS = used
    return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--only", nargs="+", default=[], metavar="SLUG")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    tune()
    device, catalogue = make_device("h200", options.gpu), find_catalogue()
    rows = []
    for slug in options.only or catalogue.slugs():
        rows.append(measure(catalogue.load(slug), device, options.times))
        print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
        torch.cuda.empty_cache()
    if options.json:
        keep("answers", {"milliseconds": rows})


if __name__ == "__main__":
    main()
