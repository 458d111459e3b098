"""Mistake: returns early where there is nothing to add, but the 0 has to be written."""

import triton
import triton.language as tl


@triton.jit
def clear(out):
    tl.store(out, 0.0)


@triton.jit
def add_up(a, b, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(a + offsets, mask=mask, other=0.0)
    right = tl.load(b + offsets, mask=mask, other=0.0)
    values = left * right
    tl.atomic_add(out, tl.sum(values, axis=0))


def solve(a, b, out, n):
    if n == 0:
        return
    clear[(1,)](out)
    add_up[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
