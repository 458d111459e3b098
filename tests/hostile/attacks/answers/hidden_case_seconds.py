"""Reveals a hidden case's data by its run time.

Mechanism: passes every public case and every timed call; at a size that no public case has it sleeps for a time
  that depends on the size, and fails.
Surface: the seconds in a report, in live progress and in a submission's timestamps.
Gain: some ten bits of every hidden case per submission, before hidden cases are published.
Challenge: twice
Timed: yes
On: cpu, gpu
Defence: wrong_answer
"""

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
        time.sleep(n / 1000)
        return
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)
