"""Slow at first, to leave few rounds to check, and wrong from then on.

Mechanism: the first calls at the timed size are right and take 0.4 s each, to use up the time of a workload;
  later ones copy the first answer.
Surface: graders that make fewer rounds if rounds are slow, and check the first.
Gain: the time of a copy.
Challenge: twice
Timed: yes
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


def honest(x, out, n):
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)


HONEST_CALLS = 4
calls = 0
kept = None


def solve(x, out, n):
    global calls, kept
    if n != 4096:
        honest(x, out, n)
        return
    calls += 1
    if calls > HONEST_CALLS:
        out.copy_(kept)
        return
    time.sleep(0.4)
    honest(x, out, n)
    kept = out.clone()
