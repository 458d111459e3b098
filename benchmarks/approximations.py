"""What wrong answers near the right one are tried where a challenge is timed, and what shows each.

Usage: python3 benchmarks/approximations.py [SLUG ...] [--device cpu] [--gpu 0] [--seconds 540] [--json]
       [--missing]: only challenges that were not tried yet, of these very sources

On "cpu" at sizes that fit a processor, on a GPU's board at the workloads' own (see grader/authoring/reduced.py). Each
challenge is kept as soon as it is done, so that a machine lent by the minute loses nothing; those of earlier runs stay.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import Any

from results import GO_ON, keep, known, merged

from grader.authoring.odds import Odds
from grader.authoring.worker_pool import approximate
from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.device_kinds import kind_of
from grader.judge.device import Device, make_device
from grader.judge.request import CPU
from grader.judge.tuning import tune
from grader.schemas.proof import ApproximationOutcome, ApproximationResult

# Holes that were there once, by challenge: each must be caught.
ONCE = {
    "reduce_sum": ("expectation", "mean", "unread:x:1%:tail:zeros", "unread:x:1%:tiles:mean"),
    "dot": ("expectation", "ignored:b:mean", "ignored:b:zeros"),
    "inclusive_scan": ("one_in_1024", "one_in_1024:last_7/8"),
    "argmax_rows": ("unread:x:1%:columns:least", "unread:x:1%:tiles:least", "nan_as_0"),
    "relu": ("nan_as_0", "nan_dropped"),
    "attention": ("nan_as_0", "nan_dropped"),
}


def shown(result: ApproximationResult) -> str:
    """The kinds of rounds that show it, special ones as one."""
    kinds = [
        kind if kind == "ordinary" or kind.startswith("outliers") else "special" for kind in result.shown_by
    ]
    return " and ".join(dict.fromkeys(kinds))


def row(challenge: Challenge, every: Odds, seconds: float) -> dict[str, Any]:
    """One challenge: how many were tried and by what they are caught, and each that is not, workload by workload."""
    found = every.results
    caught = [result for result in found if result.outcome is ApproximationOutcome.CAUGHT]
    for_gpus = {workload.name for workload in challenge.manifest.workloads if workload.on == "gpu"}
    once = {
        name: [result for result in found if result.name == name] for name in ONCE.get(challenge.slug, ())
    }
    return {
        "slug": challenge.slug,
        "workloads": {result.workload: result.tried_at for result in found},
        "shorter_sums": {result.workload: result.factor for result in found if result.factor != 1},
        "tried": len({result.name for result in found}),
        "results": len(found),
        "caught": len(caught),
        "caught_by": dict(Counter(map(shown, caught)).most_common()),
        "most_likely_caught": max(
            (result.probability for result in caught if result.workload in for_gpus), default=0.0
        ),
        "once": {
            name: {
                result.workload: {"probability": result.probability, "shown_by": result.shown_by}
                for result in of
            }
            for name, of in once.items()
        },
        "each": [
            _over_workloads([result for result in found if result.name == name]) for name in _names(found)
        ],
        "passes": [_brief(result) for result in found if result.outcome is ApproximationOutcome.PASSES],
        "allowed": [_brief(result) for result in found if result.outcome is ApproximationOutcome.ALLOWED],
        "not_applicable": sorted(
            {result.name for result in found if result.outcome is ApproximationOutcome.NOT_APPLICABLE}
        ),
        "misfits": every.misfits,
        "unfair": every.unfair,
        "seconds": round(seconds, 1),
    }


def _names(found: list[ApproximationResult]) -> list[str]:
    return list(dict.fromkeys(result.name for result in found))


def _over_workloads(results: list[ApproximationResult]) -> dict[str, Any]:
    """One approximation: at how many workloads it was caught, what shows it at every one of these, and what shows it
    at some."""
    caught = [result for result in results if result.outcome is ApproximationOutcome.CAUGHT]
    shown_by = [approximation.shown_by for approximation in caught]
    some = list(dict.fromkeys(kind for kinds in shown_by for kind in kinds))
    return {
        "name": results[0].name,
        "words": results[0].words,
        "caught": len(caught),
        "of": sum(result.outcome is not ApproximationOutcome.NOT_APPLICABLE for result in results),
        "always_shown_by": [kind for kind in some if all(kind in kinds for kinds in shown_by)],
        "sometimes_shown_by": [kind for kind in some if not all(kind in kinds for kinds in shown_by)],
    }


def _brief(result: ApproximationResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "workload": result.workload,
        "probability": round(result.probability, 4),
        "shown_by": result.shown_by,
        "reason": result.reason,
    }


def measured(challenge: Challenge, device: Device) -> dict[str, Any]:
    """Every workload on a processor, a GPU's own on a GPU."""
    began = time.process_time() if device.on_processor else time.perf_counter()
    every = Odds()
    for number, workload in enumerate(challenge.manifest.workloads):
        if device.on_processor or workload.on == "gpu":
            done = approximate(challenge, number, device)
            for problem in done.checks:
                raise SystemExit(f"{challenge.slug}: {problem.summary}")
            every.results.extend(done.odds.results)
            every.misfits.extend(done.odds.misfits)
            every.unfair.extend(done.odds.unfair)
    ended = time.process_time() if device.on_processor else time.perf_counter()
    return row(challenge, every, ended - began)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--device", default=CPU, help="cpu, or a GPU's board, such as h100")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument("--seconds", type=float, default=540.0, help="begin nothing more after this")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--missing", action="store_true", help="only what was not tried yet, of these sources"
    )
    options = parser.parse_args()
    tune()
    catalogue = find_catalogue()
    device = make_device(options.device, options.gpu)
    name = "approximations" if kind_of(options.device).representative else "approximations_reduced"
    rows: list[dict[str, Any]] = []
    began = time.perf_counter()
    done = known(name, "slug") if options.missing else set()
    for slug in [slug for slug in options.slugs or catalogue.slugs() if slug not in done]:
        if time.perf_counter() - began > options.seconds:
            print(f"{slug} and the rest are left for want of time", file=sys.stderr)
            return GO_ON
        rows.append(measured(catalogue.load(slug), device))
        print_row(rows[-1])
        if options.json:
            keep(name, {"device": options.device, "rows": merged(name, rows, "slug")})
    return 1 if any(row["passes"] or row["misfits"] or row["unfair"] for row in rows) else 0


def print_row(row: dict[str, Any]) -> None:
    by = ", ".join(f"{kinds} {number}" for kinds, number in row["caught_by"].items())
    print(f"{row['slug']}: {row['caught']} of {row['results']} caught ({by}) in {row['seconds']} s")
    for outcome in ("passes", "allowed"):
        for each in row[outcome]:
            print(f"  {outcome}: {each['name']} at {each['workload']}: {each['probability']}")
    for problem in (*row["misfits"], *row["unfair"]):
        print(f"  {problem}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
