"""Mistake: returns early when there is nothing to count, but the bins still have to be set to 0."""

import triton
import triton.language as tl


@triton.jit
def clear(out, bins, BLOCK: tl.constexpr):
    bin_ = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + bin_, 0, mask=bin_ < bins)


@triton.jit
def count(x, out, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=-1)
    inside = (values >= 0) & (values < bins)
    tl.atomic_add(out + values, 1, mask=inside)


def solve(x, out, n, bins):
    if n == 0 or bins == 0:
        return
    clear[(triton.cdiv(bins, 512),)](out, bins, BLOCK=512)
    if n > 0:
        count[(triton.cdiv(n, 512),)](x, out, n, bins, BLOCK=512)
