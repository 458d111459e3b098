"""300 people watch one submission each while workers judge: how long each look takes.

``load.py`` without the storm of posts: web by gunicorn, Redis, two workers and boxes, all on this machine. Half watch
as our pages do (``live.js``), half as ``grader watch``. A few posts keep the queue moving.

Target: 99 of 100 looks under 500 ms.

Usage: python benchmarks/watching.py [--json] [--database sqlite|postgresql] [--judge real|stand-in]
       [--box auto|local|...] [--watchers N] [--posts N] [--seconds S]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import load
from results import keep

TARGET_MS = 500.0
# The requests of watchers.
LOOKS = ("panel", "status")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--judge", choices=["real", "stand-in"], default="real")
    parser.add_argument("--box", default="auto")
    parser.add_argument("--watchers", type=int, default=300)
    parser.add_argument("--posts", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--stand-in-worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # Whoever posts has not posted before; what still waits after the minute is not waited for.
    options.users, options.drain_s = max(1, options.posts), 0.0
    figures, _ = load.run(options)
    looks = {kind: told for kind, told in figures["answers"].items() if kind in LOOKS}
    for kind, told in looks.items():
        print(f"{kind:<8} {told['count']:>6}, {told['per_s']:>6} a second, {told['status']}, ms {told['ms']}")
    print(f"of processor the web used {figures['web_cpu_s']} s; load {figures['load_average']}")
    failed = sum(
        number
        for told in looks.values()
        for status, number in told["status"].items()
        if status not in ("200", "304")
    )
    met = (
        set(looks) == set(LOOKS)
        and not failed
        and all(look["ms"]["p99"] < TARGET_MS for look in looks.values())
    )
    print(f"target: p99 under {TARGET_MS:g} ms: {'met' if met else 'MISSED'}")
    if options.json:
        keep(f"watching_{options.database}", {**figures, "target_p99_ms": TARGET_MS})
    sys.exit(not met)


if __name__ == "__main__":
    main()
