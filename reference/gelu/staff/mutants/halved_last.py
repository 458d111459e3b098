"""Mistake: multiplies x by 1 + erf, up to 2, before it halves: inf from 1.7e38 on."""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    result = value * (1.0 + tl.math.erf(value * 0.7071067811865476)) * 0.5
    tl.store(out + offsets, result, mask=inside)


def solve(x, out, n):
    if n == 0:
        return
    gelu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
