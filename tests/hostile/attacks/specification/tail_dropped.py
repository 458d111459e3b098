"""Leaves out the last, partial block.

Mechanism: rounds the grid down, which is right for the timed sizes.
Surface: the choice of compared elements, and their tolerance.
Gain: no mask, no last block.
Challenge: twice
Case: prime
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
    if n >= 32:
        twice[(n // 32,)](x, out, n, block=32)
