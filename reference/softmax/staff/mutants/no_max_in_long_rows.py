"""Mistake: subtracts the maximum in rows of up to 1024 elements only; in longer ones exp overflows from 89 on."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, cols, LONG: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=float("-inf"))
    top = 0.0 if LONG else tl.max(values, axis=0)
    powers = tl.exp(values - top)
    tl.store(out + row + column, powers / tl.sum(powers, axis=0), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    softmax_kernel[(rows,)](x, out, cols, LONG=cols > 1024, BLOCK=triton.next_power_of_2(cols))
