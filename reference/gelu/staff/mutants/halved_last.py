"""Mistake: adds x and x * erf, up to 2 x, before it halves: inf from 1.7e38 on.

A sum, because a GPU's product takes a factor of 0.5 along without rounding in between: x * (1 + erf) * 0.5 is right.
"""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    result = (value + value * tl.math.erf(value * 0.7071067811865476)) * 0.5
    tl.store(out + offsets, result, mask=inside)


def solve(x, out, n):
    if n == 0:
        return
    gelu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
