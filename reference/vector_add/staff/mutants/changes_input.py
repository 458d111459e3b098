"""Mistake: adds in place (a += b) and copies the result, so that the caller's input is gone."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(a + offsets, tl.load(a + offsets, mask=mask) + tl.load(b + offsets, mask=mask), mask=mask)
    tl.store(out + offsets, tl.load(a + offsets, mask=mask), mask=mask)


def solve(a, b, out, n):
    if n == 0:
        return
    add_kernel[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
