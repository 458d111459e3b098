"""Mistake: lanes beyond the row hold its last element times 0, which is NaN where that is infinite."""

import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x, gamma, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    scale = tl.load(gamma + column, mask=inside)
    values = tl.load(x + row + tl.minimum(column, cols - 1))
    factor = tl.rsqrt(tl.sum(values * values * inside.to(tl.float32), axis=0) / cols + eps)
    tl.store(out + row + column, values * factor * scale, mask=inside)


def solve(x, gamma, out, eps, rows, cols):
    if rows == 0 or cols == 0:
        return
    rmsnorm_kernel[(rows,)](x, gamma, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
