"""Offsets of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + places, mask=places < n, other=0.0)
    tl.atomic_add(out, tl.sum(value))


def solve(x, out, n):
    out.zero_()
    if n > 0:
        each[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
