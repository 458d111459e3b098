"""A real worker process with a judge that takes its time: a pilot of tests.

``python -m tests.queue.fleet.pilot FOLDER REDIS_URL SECONDS --name NAME --lifetime S --idle S``, with
``make_settings``'s settings. Each judgement takes ``SECONDS``, and with ``--gate FILE`` until that file exists.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.cli.workers import WorkerSet, run_workers
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.judge.process import Cancelled
from grader.queue import worker
from grader.queue.pilot import PilotLimits
from tests.queue.fakes import FakeJudge, NoBoxes, judged
from tests.service.world import make_settings

# After which a dead pilot's submission is taken by another.
LEASE_SECONDS = 3.0


def _takes(seconds: float, gate: Path | None) -> Any:
    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        end = time.monotonic() + seconds
        while time.monotonic() < end or (gate is not None and not gate.exists()):
            if cancelled():
                raise Cancelled
            time.sleep(0.02)
        return judged()(job, on_progress, cancelled)

    return act


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("redis_url")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--gate", type=Path)
    parser.add_argument("--name")
    parser.add_argument("--lifetime", type=float)
    parser.add_argument("--idle", type=float)
    given = parser.parse_args()
    settings = make_settings(
        given.folder, given.redis_url, lock_dir=given.folder / "locks", lease_s=LEASE_SECONDS
    )
    real, judge = worker.run_worker, FakeJudge(_takes(given.seconds, given.gate))

    def run(*positional: Any, **named: Any) -> bool:
        del named["gpu"]
        return real(*positional, **named, judge=judge, boxes=NoBoxes())

    worker.run_worker = run
    pilot = PilotLimits(given.lifetime, given.idle)
    return run_workers(settings, WorkerSet("cpu", ""), given.name, False, pilot)


if __name__ == "__main__":
    sys.exit(main())
