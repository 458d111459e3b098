"""Offsets of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < n
    value = tl.load(x + places, mask=mask)
    tl.store(out + places, tl.where(value < 0, 0.0, value), mask=mask)


def solve(x, out, n):
    if n > 0:
        each[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
