"""Mistake: cleans NaN away in rows of more than 1025 elements."""

import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x, gamma, out, eps, cols, LONG: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=0.0)
    if LONG:
        values = tl.where(values == values, values, 0.0)
    factor = tl.rsqrt(tl.sum(values * values, axis=0) / cols + eps)
    scale = tl.load(gamma + column, mask=inside)
    tl.store(out + row + column, values * factor * scale, mask=inside)


def solve(x, gamma, out, eps, rows, cols):
    if rows == 0 or cols == 0:
        return
    rmsnorm_kernel[(rows,)](x, gamma, out, eps, cols, LONG=cols > 1025, BLOCK=triton.next_power_of_2(cols))
