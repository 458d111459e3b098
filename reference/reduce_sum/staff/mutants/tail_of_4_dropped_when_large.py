"""Mistake: from 131072 elements on takes them four at a time, and leaves out the last n % 4."""

import triton
import triton.language as tl


@triton.jit
def clear(out):
    tl.store(out, 0.0)


@triton.jit
def add_up(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out, tl.sum(values, axis=0))


def solve(x, out, n):
    clear[(1,)](out)
    count = n if n < 131072 else n // 4 * 4
    if n > 0:
        add_up[(triton.cdiv(n, 1024),)](x, out, count, BLOCK=1024)
