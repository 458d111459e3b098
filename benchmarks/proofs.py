"""How long the proof of every challenge takes, and what it finds: right kernels pass, wrong ones fail.

Usage: python3 benchmarks/proofs.py [SLUG ...] [--device cpu] [--gpus 0,1] [--jobs 0] [--at-once 8] [--seconds 300]
       [--changed] [--json]

--changed leaves out what was proven from the same files by the same code (`make proofs`, on cpu and emulated). Some
challenges at a time, told as soon as they are proven, so that a machine lent by the minute loses nothing when
its time is up; what was kept of the others stays, and so does how long the last run over every challenge took.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

from results import SUFFIXES, before, commit, keep, merged, sources, today

from grader.authoring.proof import Options, prove
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.cli.commands.challenge import ProofProgress, put_proofs
from grader.device_kinds import EMULATED, takes
from grader.judge.request import CPU
from grader.languages import Language
from grader.schemas.proof import Proof

_PROVING = (
    "grader/authoring", "grader/challenge", "grader/judge", "grader/limits.py", "sandbox/runner", "sandbox/compiler",
    "sandbox/emulator",
)  # fmt: skip
# Each group starts its processes again, which costs half a minute on a GPU.
AT_ONCE = 8


def name_of(device: str) -> str:
    return {CPU: "proofs", EMULATED: "emulated_proofs"}.get(device, "gpu_proofs")


def digest(slug: str) -> str:
    """Of a challenge's files and of the code that proves it."""
    return sources((*_PROVING, f"challenges/{slug}", f"reference/{slug}"), SUFFIXES | {".md"})


def row(proof: Proof) -> dict[str, Any]:
    checks = [
        {"name": check.name, "status": check.status.value, "summary": check.summary} for check in proof.checks
    ]
    return {
        "slug": proof.slug,
        "digest": digest(proof.slug),
        "strong": proof.strong,
        "seconds": round(proof.seconds, 1),
        "checks": checks,
    }


def provable(catalogue: Catalogue, device: str) -> list[str]:
    """A board of one GPU proves no challenge on two, nor the other way round."""
    return [slug for slug in catalogue.slugs() if takes(device, catalogue.load(slug).manifest.gpus)]


def prove_all(
    catalogue: Catalogue, slugs: list[str], wanted: Options, at_once: int, seconds: float, kept: bool
) -> list[Proof]:
    """What could be begun within ``seconds``; ``kept`` after every few."""
    found: list[Proof] = []
    start = time.perf_counter()
    for first in range(0, len(slugs), at_once):
        if time.perf_counter() - start > seconds:
            break
        with ProofProgress() as progress:
            proofs = prove(catalogue.root, slugs[first : first + at_once], wanted, progress.show)
        put_proofs(proofs)
        sys.stdout.flush()
        found += proofs.challenges
        if kept:
            whole = len(found) == len(provable(catalogue, wanted.device))
            keep_proofs(found, wanted, time.perf_counter() - start, whole)
    return found


def keep_proofs(proofs: list[Proof], wanted: Options, seconds: float, whole: bool) -> None:
    """``whole``: these are the catalogue's every challenge."""
    name = name_of(wanted.device)
    run = {
        "gpus": len(wanted.gpus),
        "jobs": wanted.workers,
        "cores": os.cpu_count(),
        "seconds": round(seconds),
        "challenges": len(proofs),
        "proven": sum(proof.strong for proof in proofs),
        "commit": commit(),
        "measured": today(),
    }
    figures = {
        "device": wanted.device,
        "run": run,
        "whole_run": run if whole else before(name).get("whole_run"),
        "rows": merged(name, [row(proof) for proof in proofs], "slug"),
    }
    keep(name, figures)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gpus", default="0", help="their numbers on this machine, by commas")
    parser.add_argument("--jobs", type=int, default=0, help="processes; 0 = one for each core")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="challenges that are kept together")
    parser.add_argument("--seconds", type=float, default=300.0, help="begin nothing more after this")
    parser.add_argument("--changed", action="store_true", help="leave out what is proven already")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    catalogue = find_catalogue()
    slugs = options.slugs or provable(catalogue, options.device)
    if options.changed:
        kept = before(name_of(options.device)).get("rows", [])
        proven = {row["slug"] for row in kept if row["strong"] and row.get("digest") == digest(row["slug"])}
        print(f"{len(proven & set(slugs))} of {len(slugs)} are proven already on {options.device}")
        slugs = [slug for slug in slugs if slug not in proven]
    gpus = tuple(map(int, options.gpus.split(",")))
    wanted = Options(options.device, tuple(Language), options.jobs, False, gpus)
    start = time.perf_counter()
    proofs = prove_all(catalogue, slugs, wanted, options.at_once, options.seconds, options.json)
    took = time.perf_counter() - start
    strong = sum(proof.strong for proof in proofs)
    print(
        f"{strong} of {len(proofs)} proven in {took:.0f} s; {len(slugs) - len(proofs)} left for want of time"
    )
    return 0 if strong == len(slugs) else 1


if __name__ == "__main__":
    sys.exit(main())
