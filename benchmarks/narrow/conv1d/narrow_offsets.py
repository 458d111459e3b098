"""Offsets of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, w, out, results, k, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < results
    total = tl.zeros([BLOCK], tl.float32)
    for t in range(k):
        total += tl.load(x + places + t, mask=mask, other=0.0) * tl.load(w + t)
    tl.store(out + places, total, mask=mask)


def solve(x, w, out, n, k):
    if n - k + 1 > 0:
        each[(triton.cdiv(n - k + 1, 1024),)](x, w, out, n - k + 1, k, BLOCK=1024)
