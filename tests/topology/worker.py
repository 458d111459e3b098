"""A worker of a host: ``python -m tests.topology.worker NAME VERDICT|gpu|compile``, with settings in its
environment.

It judges nothing: a submission waits in ``testing`` for the file ``gate`` in its data folder, then gets
VERDICT. The worker delivers that result even without its lease. With ``gpu`` it serves a made-up H200, and
accepts everything.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from grader.judge.job import Job, JudgingProgress, Outcome
from grader.queue import executor, worker
from grader.schemas.report import Verdict
from grader.schemas.submission import ProgressView, State
from grader.settings import Settings
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, report_for
from tests.queue.gpus import H200


def main(name: str, what: str) -> None:
    settings = Settings()
    gpu = H200 if what == "gpu" else None
    verdict = Verdict.ACCEPTED if what in ("gpu", "compile") else Verdict(what)
    gate = settings.data_dir / "gate"

    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], _cancelled: Callable[[], bool]
    ) -> Outcome:
        on_progress(
            JudgingProgress(state=State.TESTING, progress=ProgressView(done=1, total=3, label="seven"))
        )
        while not gate.exists():
            time.sleep(0.05)
        return Outcome(report=report_for(job, verdict))

    if what == "compile":
        worker.run_compile_worker(settings, name, compiler=FakeCompiler(), boxes=NoBoxes())
    else:
        worker.nvcc_version = executor.nvcc_version = lambda: None  # type: ignore[assignment] # compiling is done by another
        worker.run_worker(settings, name, judge=FakeJudge(act), boxes=NoBoxes(), gpu=gpu)


if __name__ == "__main__":
    main(*sys.argv[1:])
