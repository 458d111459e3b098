"""Mistake: from 200000 elements on, a faster path asks "above 0?", which is false for NaN."""

import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, n, FAST: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask)
    kept = values > 0 if FAST else (values > 0) | (values != values)
    tl.store(out + offsets, tl.where(kept, values, 0.0), mask=mask)


def solve(x, out, n):
    if n == 0:
        return
    relu_kernel[(triton.cdiv(n, 256),)](x, out, n, FAST=n >= 200000, BLOCK=256)
