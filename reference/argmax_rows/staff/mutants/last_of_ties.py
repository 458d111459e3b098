"""Mistake: replaces the best by an equal element (>=), so that the last of several maxima wins."""

import triton
import triton.language as tl


@triton.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row * cols + column, mask=inside, other=float("-inf"))
    is_nan = values != values
    top = tl.max(tl.where(is_nan, float("-inf"), values), axis=0)
    wins = tl.where(tl.max(is_nan.to(tl.int32), axis=0) > 0, is_nan, values == top)
    tl.store(out + row, tl.max(tl.where(wins & inside, column, -1), axis=0).to(tl.int64))


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
