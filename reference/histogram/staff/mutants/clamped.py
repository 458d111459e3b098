"""Mistake: counts values outside 0..bins-1 in the first and the last bin, where they are to be ignored."""

import triton
import triton.language as tl


@triton.jit
def clear(out, bins, BLOCK: tl.constexpr):
    bin_ = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + bin_, 0, mask=bin_ < bins)


@triton.jit
def count(x, out, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    values = tl.load(x + offsets, mask=inside)
    values = tl.minimum(tl.maximum(values, 0), bins - 1)
    tl.atomic_add(out + values, 1, mask=inside)


def solve(x, out, n, bins):
    if bins == 0:
        return
    clear[(triton.cdiv(bins, 512),)](out, bins, BLOCK=512)
    if n > 0:
        count[(triton.cdiv(n, 512),)](x, out, n, bins, BLOCK=512)
