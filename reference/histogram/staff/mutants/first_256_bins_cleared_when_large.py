"""Mistake: from 100000 values on clears the first 256 bins only, one with each thread of a block."""

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
    values = tl.load(x + offsets, mask=inside, other=0)
    tl.atomic_add(out + values, 1, mask=inside & (values >= 0) & (values < bins))


def solve(x, out, n, bins):
    if bins == 0:
        return
    if n < 100000:
        clear[(triton.cdiv(bins, 256),)](out, bins, BLOCK=256)
    else:
        clear[(1,)](out, bins, BLOCK=256)
    if n > 0:
        count[(triton.cdiv(n, 512),)](x, out, n, bins, BLOCK=512)
