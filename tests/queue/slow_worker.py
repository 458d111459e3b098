"""A real worker process with a judge that waits in ``testing`` until a file exists.

``python -m tests.queue.slow_worker FOLDER REDIS_URL NAME``: the settings are those of ``make_settings``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from grader.queue.worker import run_worker
from tests.queue.fakes import FakeJudge, NoBoxes, waits_for
from tests.service.world import make_settings

if __name__ == "__main__":
    folder, redis_url, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    judge = FakeJudge(waits_for(folder / "gate"))
    run_worker(make_settings(folder, redis_url), name, judge=judge, boxes=NoBoxes())
    assert judge.closed
    assert "torch" not in sys.modules, "the worker process must not load torch"
