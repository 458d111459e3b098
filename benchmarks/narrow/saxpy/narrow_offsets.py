"""Offsets of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, y, alpha, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < n
    first = tl.load(x + places, mask=mask)
    second = tl.load(y + places, mask=mask)
    tl.store(y + places, alpha * first + second, mask=mask)


def solve(x, y, alpha, n):
    if n > 0:
        each[(triton.cdiv(n, 1024),)](x, y, alpha, n, BLOCK=1024)
