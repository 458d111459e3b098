"""A real worker process whose work waits until a file exists.

``python -m tests.queue.slow_worker FOLDER REDIS_URL NAME [gpu|compile]``, with ``make_settings``'s settings.
A judge waits in ``testing`` for the file ``gate``; with ``gpu`` it is that of a made-up H200, which compiles
nothing itself. With ``compile`` a compiler waits for the file ``compiler-gate``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from grader.queue import executor, worker
from grader.sandbox.compiler.nvcc import CompileResult
from grader.settings import Settings
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, compiled, waits_for
from tests.queue.gpus import H200
from tests.service.world import make_settings


def _judge(settings: Settings, name: str, folder: Path, gpu: bool) -> None:
    judge = FakeJudge(waits_for(folder / "gate"))
    worker.nvcc_version = executor.nvcc_version = lambda: None  # type: ignore[assignment] # it shall not compile
    worker.run_worker(settings, name, judge=judge, boxes=NoBoxes(), gpu=H200 if gpu else None)
    assert judge.closed


def _compile(settings: Settings, name: str, gate: Path) -> None:
    def act(interrupt: Callable[[], None]) -> CompileResult:
        while not gate.exists():
            interrupt()
            time.sleep(0.02)
        return compiled()

    compiler = FakeCompiler(*[act] * 100)
    worker.run_compile_worker(settings, name, compiler=compiler, boxes=NoBoxes())
    assert compiler.closed


if __name__ == "__main__":
    folder, redis_url, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    kind = sys.argv[4] if len(sys.argv) > 4 else ""
    # Short: tests wait for the lease of one that was killed.
    settings = make_settings(folder, redis_url, lock_dir=folder / "locks", lease_s=2.0)
    if kind == "compile":
        _compile(settings, name, folder / "compiler-gate")
    else:
        _judge(settings, name, folder, kind == "gpu")
    assert "torch" not in sys.modules, "the worker process must not load torch"
