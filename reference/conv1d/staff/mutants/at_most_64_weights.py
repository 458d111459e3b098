"""Mistake: has room for 64 weights and leaves out the rest."""

import triton
import triton.language as tl


@triton.jit
def convolve(x, w, out, n, count, k, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for t in range(min(k, 64)):
        total += tl.load(x + place + t, mask=inside, other=0.0) * tl.load(w + t)
    tl.store(out + place, total, mask=inside)


def solve(x, w, out, n, k):
    count = n - k + 1
    if count <= 0:
        return
    convolve[(triton.cdiv(count, 1024),)](x, w, out, n, count, k, BLOCK=1024)
