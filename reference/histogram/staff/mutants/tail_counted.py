"""Mistake: fills the lanes beyond the values with 0 and counts them in bin 0."""

import triton
import triton.language as tl


@triton.jit
def clear(out, bins, BLOCK: tl.constexpr):
    bin_ = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + bin_, 0, mask=bin_ < bins)


@triton.jit
def count(x, out, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0)
    tl.atomic_add(out + values, 1, mask=(values >= 0) & (values < bins))


def solve(x, out, n, bins):
    if bins == 0:
        return
    clear[(triton.cdiv(bins, 512),)](out, bins, BLOCK=512)
    if n > 0:
        count[(triton.cdiv(n, 512),)](x, out, n, bins, BLOCK=512)
