"""Strikes a platform under load with hundreds of faults (`make faults`).

Checks that every submission ends once, with its true verdict, and measures recovery from a killed worker and
a wiped Redis. Half of the faults strike SQLite, half PostgreSQL and its own Docker engine (as root, if
installed). The same seed makes the same plan. Exit code 1 if anything was wrong.

With ``--https``, workers have neither database nor Redis, and answers are lost, calls repeated, tokens revoked.

Usage: python scripts/faults.py [--seed N] [--faults 200] [--database sqlite|postgres] [--https] [--json] [--logs
FOLDER]
"""

from __future__ import annotations

import argparse
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import keep

from tests.faults import campaign
from tests.faults.campaign import Outcome, Wanted
from tests.faults.harness import Layout, can_use
from tests.faults.recovery import measure

# Enough faults to include some that outlast every wait.
_MANY = 60


def main() -> int:
    said = _parse()
    seed = said.seed if said.seed is not None else secrets.randbelow(2**31)
    print(f"seed {seed}", flush=True)
    layouts = [Layout("sqlite", https=said.https), Layout("postgres", docker=True, https=said.https)]
    layouts = [layout for layout in layouts if said.database in ("", layout.database)]
    layouts = [layout if can_use(layout) else Layout(layout.database, https=said.https) for layout in layouts]
    layouts = [layout for layout in layouts if can_use(layout)]
    each, wanted = -(-said.faults // len(layouts)), Wanted(long=said.faults >= _MANY)
    with ThreadPoolExecutor() as pool:
        recovering = None if said.faults_only else pool.submit(measure)
        outcomes = list(pool.map(lambda layout: campaign.run(layout, seed, each, wanted), layouts))
        recovery = recovering.result() if recovering else {}
    for outcome in outcomes:
        _print(outcome)
        if said.logs:
            _keep_logs(outcome, said.logs)
    for name, figures in recovery.items():
        print(f"{name}: {figures}")
    if said.json:
        keep(
            "faults_https" if said.https else "faults",
            {"seed": seed, "recovery_s": recovery, "runs": [_figures(outcome) for outcome in outcomes]},
        )
    return int(any(outcome.wrong for outcome in outcomes))


def _keep_logs(outcome: Outcome, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, log in outcome.logs.items():
        (folder / f"{outcome.layout.database}-{name}.log").write_text(log)


def _figures(outcome: Outcome) -> dict[str, object]:
    kept = asdict(outcome)
    del kept["logs"], kept["struck"]
    return {**kept, "faults": len(outcome.struck), "by_kind_and_state": outcome.table()}


def _print(outcome: Outcome) -> None:
    states = ["queued", "compiling", "waiting", "testing", "timing", "between"]
    print(f"\n{outcome.layout}: {len(outcome.struck)} faults in {outcome.seconds:.0f} s")
    print(f"{'':20}" + "".join(f"{state:>11}" for state in states))
    for kind, counts in outcome.table().items():
        print(f"{kind:20}" + "".join(f"{counts.get(state, 0) or '':>11}" for state in states))
    print(
        f"{outcome.submissions} submissions, taken {outcome.attempts} times; {outcome.answers} answers, "
        f"{outcome.away} times 'not now', the slowest after {outcome.slowest_answer_s} s"
    )
    for mistake in outcome.wrong:
        print(f"WRONG: {mistake}")
    print("nothing was wrong" if not outcome.wrong else f"{len(outcome.wrong)} things were wrong", flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--database", default="", choices=["", "sqlite", "postgres"])
    parser.add_argument(
        "--https", action="store_true", help="workers over HTTPS, and faults of their requests"
    )
    parser.add_argument("--faults-only", action="store_true", help="without the figures of recovery")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--logs", type=Path, help="where the logs of all parts are kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
