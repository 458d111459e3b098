"""What a fleet loses while Slurm preempts its pilots and nodes die: a real Slurm of two nodes on this machine, real
worker processes, and a judge that only waits.

Targets: no submission lost, judged twice or charged; a pilot runs within 30 s of a burst; all are gone 5 minutes after.

Usage: python benchmarks/fleet.py [--json] [--submissions 300] [--preemptions 200] [--deaths 4] [--seconds 8]

``--seconds`` of a judgement: if they are too short, everything is judged before all disturbances came, which fails.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep

from grader.queue.embedded import start_redis
from grader.service.platform import open_platform
from grader.settings import Settings
from tests.queue.fleet import campaign, slurm
from tests.service.world import make_settings, short_folder

APPEARED_S, GONE_S = 30.0, 300.0


def main() -> int:
    said = _parse()
    if missing := slurm.missing():
        print(missing, file=sys.stderr)
        return 2
    wanted = campaign.Campaign(said.submissions, said.preemptions, said.deaths, said.seconds)
    redis_settings = Settings(data_dir=short_folder(), redis_url="")
    with tempfile.TemporaryDirectory() as held, start_redis(redis_settings) as redis:
        folder = Path(held)
        (folder / "slurm").mkdir()
        with slurm.two_nodes(folder / "slurm") as cluster:
            os.environ["SLURM_CONF"] = str(cluster.conf)
            platform = open_platform(make_settings(folder, redis.url))
            found = campaign.run(platform, cluster, folder, redis.url, wanted)
            platform.close()
    figures = {"wanted": asdict(wanted), **asdict(found)}
    for name, value in figures.items():
        print(f"{name}: {value}")
    if said.json:
        keep("fleet", figures)
    undisturbed = found.preempted < wanted.preemptions or found.deaths < wanted.deaths
    wrong = found.lost or found.twice or found.charged or undisturbed
    return int(bool(wrong) or found.appeared_s > APPEARED_S or found.gone_s > GONE_S)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--submissions", type=int, default=300)
    parser.add_argument("--preemptions", type=int, default=200)
    parser.add_argument("--deaths", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8.0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
