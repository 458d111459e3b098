"""How long the list of regrades takes: 200 of 60 submissions each, a tenth of them open and half judged, in a course of
500 students; through the service, and over HTTP as a page and as JSON.

Target: the page under 300 ms (95 of 100).

Usage: python benchmarks/regrades.py [--json] [--database sqlite|postgresql] [--students N] [--calls N]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from gradebook import COURSE, fetcher, prepared
from records import measure
from results import keep
from serving import serving
from sqlalchemy import func, insert, select

from grader.records.models import RegradeItemRow, RegradeRow, SubmissionRow, utcnow
from grader.service.accounts.accounts import user_by_id
from grader.service.platform import Platform
from grader.service.review.regrade import list_regrades

TARGETS_MS = {"page": 300.0}
REGRADES, ITEMS, OPEN = 200, 60, 20
_TIMES = ("time_us", "ci_lo_us", "ci_hi_us", "speedup")


def add(platform: Platform) -> None:
    """The newest are open, and half of what they have is judged."""
    table = SubmissionRow.__table__
    kept = [column for column in table.columns if column.name not in ("id", "public_id")]
    chance = random.Random(2)
    with platform.engine.begin() as connection:
        wanted = REGRADES * ITEMS
        firsts = [
            row._asdict() for row in connection.execute(select(table).order_by(table.c.id).limit(wanted))
        ]
        base = connection.scalar(select(func.max(table.c.id))) or 0
        regrades, again, items = [], [], []
        for place, first in enumerate(firsts):
            number = place // ITEMS + 1
            is_open = number > REGRADES - OPEN
            waits = is_open and place % 2 == 1
            row = {column.name: first[column.name] for column in kept}
            row |= {
                "id": base + place + 1,
                "public_id": f"r{place:09d}",
                "kind": "rejudge",
                "rejudge_of": first["id"],
            }
            row["set_aside"] = "regrade" if is_open else "replaced"
            if waits:
                row |= {"state": "queued", **dict.fromkeys(("verdict", "finished_at", *_TIMES))}
            elif row["time_us"] is not None:
                ratio = chance.uniform(0.9, 1.1)
                row |= {name: row[name] * ratio for name in _TIMES}
            again.append(row)
            items.append(
                {
                    "regrade_id": number,
                    "first_id": first["id"],
                    "before_id": first["id"],
                    "after_id": row["id"],
                    "held_id": first["id"] if is_open else None,
                }
            )
            if place % ITEMS == 0:
                regrades.append(
                    {
                        "id": number,
                        "scope": "assignment",
                        "course_id": 1,
                        "assignment_id": number % 12 + 1,
                        "reason": "A case was wrong.",
                        "state": "open" if is_open else "published",
                        "created_at": utcnow(),
                    }
                )
        for model, rows in ((RegradeRow, regrades), (SubmissionRow, again), (RegradeItemRow, items)):
            connection.execute(insert(model), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()
    with prepared(options, add) as platform:
        owner = user_by_id(platform, options.students + 1)
        assert owner is not None
        print(f"{options.database}, in this process, load {os.getloadavg()[0]:.1f}:", flush=True)
        direct = measure({"list": lambda: list_regrades(platform, owner)}, options.calls)
        print("over HTTP:", flush=True)
        with serving(platform.settings) as (host, port, _):
            get = fetcher(platform, host, port)
            looks: dict[str, Callable[[], object]] = {
                "page": lambda: get(f"/regrades?course={COURSE}"),
                "API": lambda: get(f"/api/v1/regrades?course={COURSE}"),
            }
            remote = measure(looks, options.calls)
    missed = [name for name, most in TARGETS_MS.items() if remote[name]["p95"] > most]
    print(f"targets: {'MISSED by ' + ', '.join(missed) if missed else 'met'}")
    if options.json:
        size = {"database": options.database, "regrades": REGRADES, "submissions_of_each": ITEMS}
        figures = {**size, "targets_p95_ms": TARGETS_MS, "unit": "ms", "direct": direct, "http": remote}
        keep(f"regrades_{options.database}", figures)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
