"""Mistake: stores each block's sum where it should be added: the last one to write is all that is left."""

import triton
import triton.language as tl


@triton.jit
def clear(out):
    tl.store(out, 0.0)


@triton.jit
def add_up(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.store(out, tl.sum(values, axis=0))


def solve(x, out, n):
    clear[(1,)](out)
    if n > 0:
        add_up[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
