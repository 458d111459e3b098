"""A runner reports Triton's compilations and tuning in a call, by name and constants, and nothing between calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT

SOURCE = """
import torch
import triton
import triton.language as tl

@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + places, 2 * tl.load(x + places, places < n), places < n)

tuned = triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, num_warps=2)], key=["n"])(twice)

def solve(x, n):
    twice[(1,)](x, torch.empty(n, device="cuda"), n, BLOCK=256)

def tune(x, n):
    tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, torch.empty(n, device="cuda"), n)
"""
# Like a runner on a GPU, but without one: nothing is launched.
PROGRAM = """
import json, sys, threading
sys.path.insert(0, sys.argv[1])
import compile_triton, compiling
compile_triton.prepare()
compile_triton.use_driver(90)
compiling.watch_triton()
from triton_loader import load
import torch
solve = load(sys.argv[2], ["x", "n"], "")
tune = sys.modules["solution"].tune
x, said = torch.empty(100), []
def told(what):
    found, said[:] = list(said), []
    print(json.dumps([what, found]))
with compile_triton.on_host():
    compiling.start(said.append)
    solve(x, 100); told("first")
    solve(x, 100); told("again")
    tune(x, 101); told("tuned")
    thread = threading.Thread(target=lambda: solve(x, 1)); thread.start(); thread.join(); told("thread")
    compiling.stop()
    solve(x.to(torch.int32), 100); told("beside")
"""


def test_compilations_within_a_call_are_reported(tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", PROGRAM, str(PROGRAMS[RUNNER_MOUNT]), SOURCE]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=240)
    assert ran.returncode == 0, ran.stderr
    said = dict(json.loads(line) for line in ran.stdout.splitlines() if line.startswith("["))
    assert said["first"] == ["twice for BLOCK=256, num_warps=4", None]
    tuning = "twice while it is tuned"
    assert said["tuned"] == [
        tuning,
        "twice for BLOCK=64, num_warps=4",
        None,
        tuning,
        "twice for BLOCK=128, num_warps=2",
        None,
    ]
    assert said["again"] == said["thread"] == said["beside"] == []
