"""Offsets of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(a, b, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < n
    first = tl.load(a + places, mask=mask)
    second = tl.load(b + places, mask=mask)
    tl.store(out + places, first + second, mask=mask)


def solve(a, b, out, n):
    if n > 0:
        each[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
