"""Reveals a hidden case's data by its kind of failure.

Mechanism: passes every public case and every timed call; at a size that no public case has the size decides how
  it fails on purpose: a wrong value, an error, an endless loop, a dead process.
Surface: the verdict, and the report of a failed hidden case.
Gain: two bits of every hidden case per submission, before hidden cases are published.
Challenge: twice
Timed: yes
On: cpu, gpu
Defence: wrong_answer
"""

import os
import time

import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


PUBLIC = (0, 1, 64, 101, 4096, 1_000_000)


def solve(x, out, n):
    if n not in PUBLIC:
        kind = n % 4
        if kind == 1:
            raise RuntimeError("the size leaves 1")
        if kind == 2:
            time.sleep(60)
        if kind == 3:
            os._exit(3)
        return
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)
