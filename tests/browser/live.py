"""A platform that judges, as `grader up` starts it: web, Redis, a worker, and Docker boxes if there is an engine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.up import Up, command, end, ready

# One small challenge in Triton: judging it takes seconds in the interpreter.
CATALOGUE = Path(__file__).resolve().parents[1] / "catalogue"
SLUG = "twice"
TITLE = "Twice"

_KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, {factor} * tl.load(x + at, mask=at < n), mask=at < n)


def solve(x, out, n):
    if n:
        scale[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
"""
RIGHT = _KERNEL.format(factor="2.0")
WRONG = _KERNEL.format(factor="3.0")
# Accepted, and slower: for a second entry to compare with.
SLOWER = RIGHT.replace("1024", "128")
# Slow enough to be cancelled first: each case takes its whole limit.
ENDLESS = "import time\n\n\ndef solve(x, out, n):\n    time.sleep(3600)\n"


@contextmanager
def judging(folder: Path) -> Iterator[Up]:
    """Sign-up is open, and the board is cpu, also on a machine with GPUs."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GRADER_")}
    env |= {
        "GRADER_DATA_DIR": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "GRADER_CHALLENGES": str(CATALOGUE),
        "GRADER_SIGN_UP": "open",
        "GRADER_GPU": "none",
        "NO_COLOR": "1",
    }
    words = command("up", "--port", "0", "--box", "auto", "--ready-file", str(folder / "ready"))
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            words, env=env, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
    up = Up(process, env, folder)
    try:
        yield ready(up)
    finally:
        end(up)
