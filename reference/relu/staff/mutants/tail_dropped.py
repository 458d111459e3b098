"""Mistake: the number of blocks is rounded down, so the last n % BLOCK elements are never written."""

import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, tl.where(values < 0, 0.0, values), mask=mask)


def solve(x, out, n):
    blocks = n // 256
    if blocks == 0:
        return
    relu_kernel[(blocks,)](x, out, n, BLOCK=256)
