"""Mistake: subtracts no maximum, so exponentials of large elements are infinite."""

import triton
import triton.language as tl


@triton.jit
def log_softmax_kernel(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row * cols + column, mask=inside, other=float("-inf"))
    total = tl.sum(tl.exp(values), axis=0)
    tl.store(out + row * cols + column, values - tl.log(total), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    block = triton.next_power_of_2(cols)
    log_softmax_kernel[(rows,)](x, out, cols, BLOCK=block)
