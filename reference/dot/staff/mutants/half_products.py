"""Mistake: multiplies values rounded to float16, as tensor cores do unless told otherwise."""

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
    values = left.to(tl.float16).to(tl.float32) * right.to(tl.float16).to(tl.float32)
    tl.atomic_add(out, tl.sum(values, axis=0))


def solve(a, b, out, n):
    clear[(1,)](out)
    if n > 0:
        add_up[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
