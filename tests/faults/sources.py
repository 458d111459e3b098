"""Sources with a known verdict, no two of them equal."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.schemas.report import Verdict

CPU, GPU = "cpu", "h200"

_KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, {factor} * tl.load(x + at, mask=at < n), mask=at < n)


def solve(x, out, n):
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
"""
_BY_VERDICT = {
    Verdict.ACCEPTED: _KERNEL.format(factor=2),
    Verdict.WRONG_ANSWER: _KERNEL.format(factor=3),
    Verdict.COMPILE_ERROR: "def solve(:\n",
    Verdict.RUNTIME_ERROR: "def solve(x, out, n):\n    raise ValueError('no kernel')\n",
}
# The scripted judge and compiler (tests.faults.scripted) read this.
_ORDER = re.compile(r"judge: (\w+) ([\d.]+) ([\d.]+)")
# Seconds of each step of a scripted judgement: long enough for a fault to meet it.
_STEP = (0.15, 0.6)


@dataclass(frozen=True)
class Source:
    """``device``: its board; ``expected``: its true verdict."""

    device: str
    filename: str
    text: str
    expected: Verdict


@dataclass(frozen=True)
class Order:
    verdict: Verdict
    first_s: float
    second_s: float


def made_up(draw: random.Random, number: int, devices: Sequence[str] = (CPU, GPU)) -> Source:
    """A source for one of ``devices``, with any verdict; most are right."""
    device = draw.choice(devices)
    verdict = draw.choices(tuple(_BY_VERDICT), (5, 2, 2, 1))[0]
    if device == CPU:
        return Source(CPU, "twice.py", f"# {number}\n{_BY_VERDICT[verdict]}", verdict)
    steps = " ".join(f"{draw.uniform(*_STEP):.2f}" for _ in range(2))
    if draw.random() < 0.25:
        if verdict is Verdict.COMPILE_ERROR:
            verdict = Verdict.WRONG_ANSWER
        return Source(GPU, "twice.py", f"# {number} judge: {verdict.value} {steps}\n", verdict)
    return Source(GPU, "twice.cu", f"// {number} judge: {verdict.value} {steps}\n", verdict)


def order_of(text: str) -> Order:
    found = _ORDER.search(text)
    assert found is not None, text[:200]
    return Order(Verdict(found[1]), float(found[2]), float(found[3]))
