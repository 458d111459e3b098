"""Mistake: adds no less than 1e-8 under the root, to be safe from dividing by 0; but eps is what is given."""

import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x, gamma, beta, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / cols
    deviations = tl.where(inside, values - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(deviations * deviations, axis=0) / cols + tl.maximum(eps, 1e-8))
    scale = tl.load(gamma + column, mask=inside)
    shift = tl.load(beta + column, mask=inside)
    tl.store(out + row + column, deviations * rstd * scale + shift, mask=inside)


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows == 0 or cols == 0:
        return
    layernorm_kernel[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
