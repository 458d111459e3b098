"""Dropout in Triton: each lane hashes its element's number, so that no generator's state is kept anywhere."""

import math

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def mix(h):
    # Of unsigned numbers, so that a shift to the right brings in zeros.
    h = (h ^ (h >> 16)) * 0x7FEB352D
    h = (h ^ (h >> 15)) * 0x846CA68B
    return h ^ (h >> 16)


@triton.jit
def dropout_kernel(x, out, seed, least, scale, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    values = tl.load(x + offsets, mask=inside)
    # tl.cast, because Triton passes a seed of 1 as a constant, which has no method `to`.
    bits = mix(mix((offsets + 1).to(tl.uint32)) ^ tl.cast(seed, tl.uint32))
    kept = (bits >> 8).to(tl.int32) >= least
    # A choice, not a product with 0: NaN and infinities that are dropped become 0.
    tl.store(out + offsets, tl.where(kept, values * scale, 0.0), mask=inside)


def solve(x, out, p, seed, n):
    if n == 0:
        return  # there is nothing to launch
    # u >= p is bits >= p * 2^24, and the bits are whole, so the bound may be rounded up.
    least = math.ceil(p * 2**24)
    scale = 1 / (1 - p) if p < 1 else 0.0
    dropout_kernel[(triton.cdiv(n, BLOCK),)](x, out, seed, least, scale, n, BLOCK=BLOCK)
