"""Offsets of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < n
    value = tl.load(x + places, mask=mask)
    tl.store(out + places, 0.5 * value * (1 + tl.erf(value * 0.70710678)), mask=mask)


def solve(x, out, n):
    if n > 0:
        each[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
