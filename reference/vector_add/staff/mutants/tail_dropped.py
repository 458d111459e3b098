"""Mistake: the number of blocks is rounded down, so the last n % BLOCK elements are never written."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(a + offsets, mask=mask) + tl.load(b + offsets, mask=mask), mask=mask)


def solve(a, b, out, n):
    blocks = n // 256
    if blocks == 0:
        return
    add_kernel[(blocks,)](a, b, out, n, BLOCK=256)
