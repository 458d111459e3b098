"""Mistake: takes eps = 0 for an eps that is not given, by `eps or 1e-5`."""

import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x, gamma, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=0.0)
    scale = tl.load(gamma + column, mask=inside)
    factor = tl.rsqrt(tl.sum(values * values, axis=0) / cols + eps)
    tl.store(out + row + column, values * factor * scale, mask=inside)


def solve(x, gamma, out, eps, rows, cols):
    if rows == 0 or cols == 0:
        return
    rmsnorm_kernel[(rows,)](x, gamma, out, eps or 1e-5, cols, BLOCK=triton.next_power_of_2(cols))
