"""Worker processes: `python -m tests.faults.scripted run GPU` or `... compile` has a judge or a compiler that
obeys the source; `... judge` has the real judge, and no CUDA compiler. Settings come from the environment,
like any worker's.

Thus a machine without a GPU has enough submissions at once in every state, `waiting` among them. The other
board of these tests has the real judge, in real boxes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from grader.judge.job import Job, JudgingProgress, Outcome
from grader.judge.process import Cancelled
from grader.queue import executor, worker
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult
from grader.sandbox.gpu import Gpu
from grader.schemas.report import Verdict
from grader.schemas.submission import ProgressView, State
from grader.settings import Settings
from tests.faults.sources import order_of
from tests.queue.fakes import FakeJudge, NoBoxes, compiled, report_for

GPUS = [Gpu(number, f"GPU-faults-{number}", (), "NVIDIA H200") for number in range(2)]
_STEP_SECONDS = 0.02


def _judge(
    job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
) -> Outcome:
    order = order_of(job.source)
    steps = {State.TESTING: order.first_s}
    if order.verdict is Verdict.ACCEPTED:
        steps[State.TIMING] = order.second_s
    for state, seconds in steps.items():
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            on_progress(
                JudgingProgress(state=state, progress=ProgressView(done=1, total=3, label="scripted"))
            )
            if cancelled():
                raise Cancelled
            time.sleep(_STEP_SECONDS)
    return Outcome(report=report_for(job, order.verdict))


class ScriptedCompiler:
    def compile(self, request: CompileRequest, interrupt: Callable[[], None]) -> CompileResult:
        order = order_of(request.source)
        ends = time.monotonic() + order.first_s
        while time.monotonic() < ends:
            interrupt()
            time.sleep(_STEP_SECONDS)
        if order.verdict is Verdict.COMPILE_ERROR:
            return CompileResult(False, None, "error: scripted", order.first_s)
        return compiled()

    def try_box(self) -> None:
        pass

    def close(self) -> None:
        pass


def main() -> None:
    settings, kind = Settings(), sys.argv[1]
    # Orders for the scripted compiler mean nothing to a real one.
    for module in (worker, executor):
        module.nvcc_version = lambda: None  # type: ignore[attr-defined]
    if kind == "judge":
        worker.run_worker(settings)
        return
    if kind == "compile":
        worker.run_compile_worker(settings, "compiler", compiler=ScriptedCompiler(), boxes=NoBoxes())
        return
    gpu = GPUS[int(sys.argv[2])]
    worker.run_worker(settings, f"gpu{gpu.index}", judge=FakeJudge(_judge), boxes=NoBoxes(), gpu=gpu)


if __name__ == "__main__":
    main()
