"""Programs of 512 values, each with bins of its own: as many additions to out as bins for every 512 values."""

import triton
import triton.language as tl


@triton.jit
def clear(out, bins, BLOCK: tl.constexpr):
    bin_ = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + bin_, 0, mask=bin_ < bins)


@triton.jit
def count(x, out, n, bins, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=-1)
    inside = (values >= 0) & (values < bins)
    if BINS:
        counts = tl.histogram(values, BINS, mask=inside)
        bin_ = tl.arange(0, BINS)
        tl.atomic_add(out + bin_, counts, mask=(bin_ < bins) & (counts > 0), sem="relaxed")
    else:
        tl.atomic_add(out + values, 1, mask=inside, sem="relaxed")


def solve(x, out, n, bins):
    if bins:
        clear[(triton.cdiv(bins, 1024),)](out, bins, BLOCK=1024)
        own = max(triton.next_power_of_2(bins), 2) if bins <= 1024 else 0
        if n:
            count[(triton.cdiv(n, 512),)](x, out, n, bins, BINS=own, BLOCK=512)
