"""Mistake: stores only what is positive and leaves the rest of out as it was: it holds garbage, not zeros."""

import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, values, mask=mask & ~(values < 0))


def solve(x, out, n):
    if n == 0:
        return
    relu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
