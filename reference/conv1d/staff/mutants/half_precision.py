"""Mistake: multiplies in float16, as for a deep-learning kernel, where the challenge says float32."""

import triton
import triton.language as tl


@triton.jit
def convolve(x, w, out, n, count, k, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for t in range(k):
        total += (
            tl.load(x + place + t, mask=inside, other=0.0).to(tl.float16) * tl.load(w + t).to(tl.float16)
        ).to(tl.float32)
    tl.store(out + place, total, mask=inside)


def solve(x, w, out, n, k):
    count = n - k + 1
    if count <= 0:
        return
    convolve[(triton.cdiv(count, 1024),)](x, w, out, n, count, k, BLOCK=1024)
