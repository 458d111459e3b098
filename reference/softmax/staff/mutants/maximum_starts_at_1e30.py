"""Mistake: begins the search for the maximum at -1e30, so that a row of nothing but -3e38 becomes 0 / 0."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=float("-inf"))
    top = tl.maximum(tl.max(values, axis=0), -1e30)
    p = tl.exp(values - top)
    tl.store(out + row + column, p / tl.sum(p, axis=0), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    softmax_kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
