"""Mistake: fills the lanes beyond the end with the last element, as a clamped index does, and adds it again."""

import triton
import triton.language as tl


@triton.jit
def clear(out):
    tl.store(out, 0.0)


@triton.jit
def add_up(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + tl.minimum(offsets, n - 1))
    tl.atomic_add(out, tl.sum(values, axis=0))


def solve(x, out, n):
    clear[(1,)](out)
    if n > 0:
        add_up[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
