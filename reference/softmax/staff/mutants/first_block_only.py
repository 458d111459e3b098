"""Mistake: a fixed block of 1024 columns and no loop: the columns after it are never written."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + column, powers / tl.sum(powers, axis=0), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    softmax_kernel[(rows,)](x, out, cols, BLOCK=1024)
