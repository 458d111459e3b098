"""Mistake: begins the search for the maximum at 0, so that a row of negative numbers keeps the place it began with."""

import triton
import triton.language as tl


@triton.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    values = tl.load(x + row * cols + column, mask=column < cols, other=0.0)
    values = tl.where(values != values, float("inf"), values)
    top = tl.maximum(tl.max(values, axis=0), 0.0)
    first = tl.min(tl.where(values == top, column, BLOCK), axis=0)
    tl.store(out + row, tl.where(first == BLOCK, 0, first).to(tl.int64))


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
