"""Computes the first tile only.

Mechanism: launches one program for everything.
Surface: the choice of compared elements, and their tolerance.
Gain: the time of one tile, however many there are.
Challenge: twice
Like: tail_dropped
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""

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


def solve(x, out, n):
    twice[(1,)](x, out, n, block=32)
