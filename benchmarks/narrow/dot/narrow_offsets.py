"""Offsets of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(a, b, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(a + places, mask=places < n, other=0.0) * tl.load(b + places, mask=places < n, other=0.0)
    tl.atomic_add(out, tl.sum(value))


def solve(a, b, out, n):
    out.zero_()
    if n > 0:
        each[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
