"""Mistake: compares with > alone, which is false for NaN: a NaN is never the maximum."""

import triton
import triton.language as tl


@triton.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    values = tl.load(x + row * cols + column, mask=column < cols, other=float("-inf"))
    values = tl.where(values > float("-inf"), values, float("-inf"))
    first = tl.min(tl.where(values == tl.max(values, axis=0), column, BLOCK), axis=0)
    tl.store(out + row, first.to(tl.int64))


@triton.jit
def fill(out):
    tl.store(out + tl.program_id(0), -1)


def solve(x, out, rows, cols):
    if rows == 0:
        return
    if cols == 0:
        fill[(rows,)](out)
        return
    argmax[(rows,)](x, out, cols, BLOCK=max(triton.next_power_of_2(cols), 2))
