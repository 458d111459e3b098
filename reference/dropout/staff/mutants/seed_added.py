"""Mistake: adds the seed in place of the exclusive or."""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def mix(h):
    h = (h ^ (h >> 16)) * 0x7FEB352D
    h = (h ^ (h >> 15)) * 0x846CA68B
    return h ^ (h >> 16)


@triton.jit
def dropout_kernel(x, out, p, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    bits = mix(mix((i + 1).to(tl.uint32)) + tl.cast(seed, tl.uint32))
    u = (bits >> 8).to(tl.float32) / 16777216.0
    value = tl.load(x + i, mask=inside)
    tl.store(out + i, tl.where(u >= p, value / (1 - p), 0.0), mask=inside)


def solve(x, out, p, seed, n):
    if n == 0:
        return
    dropout_kernel[(triton.cdiv(n, BLOCK),)](x, out, p, seed, n, BLOCK=BLOCK)
