"""Mistake: from 100000 values on keeps them in range by value % bins in place of a check."""

import triton
import triton.language as tl


@triton.jit
def clear(out, bins, BLOCK: tl.constexpr):
    bin_ = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + bin_, 0, mask=bin_ < bins)


@triton.jit
def count(x, out, n, bins, CHECKED: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    values = tl.load(x + offsets, mask=inside, other=0)
    counted = inside & (values >= 0) & (values < bins) if CHECKED else inside
    tl.atomic_add(out + (values % bins + bins) % bins, 1, mask=counted)


def solve(x, out, n, bins):
    if bins == 0:
        return
    clear[(triton.cdiv(bins, 512),)](out, bins, BLOCK=512)
    if n > 0:
        count[(triton.cdiv(n, 512),)](x, out, n, bins, CHECKED=n < 100000, BLOCK=512)
