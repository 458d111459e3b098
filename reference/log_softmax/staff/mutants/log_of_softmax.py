"""Mistake: takes the logarithm of the softmax, which is 0 in float32 for unlikely elements."""

import triton
import triton.language as tl


@triton.jit
def log_softmax_kernel(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row * cols + column, mask=inside, other=float("-inf"))
    top = tl.max(values, axis=0)
    reference = tl.where(top == float("-inf"), 0.0, top)
    total = tl.sum(tl.exp(values - reference), axis=0)
    tl.store(out + row * cols + column, tl.log(tl.exp(values - reference) / total), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    block = triton.next_power_of_2(cols)
    log_softmax_kernel[(rows,)](x, out, cols, BLOCK=block)
