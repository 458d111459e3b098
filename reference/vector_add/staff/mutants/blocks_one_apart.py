"""Mistake: forgets to multiply the block's number by its size: block 1 begins at element 1."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(a + offsets, mask=mask) + tl.load(b + offsets, mask=mask), mask=mask)


def solve(a, b, out, n):
    if n == 0:
        return
    add_kernel[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
