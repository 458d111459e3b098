"""Products of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, gamma, beta, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    mask = places < cols
    value = tl.load(x + row * cols + places, mask=mask, other=0.0)
    value = tl.where(mask, value - tl.sum(value) / cols, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(value * value) / cols + eps)
    tl.store(
        out + row * cols + places,
        value * scale * tl.load(gamma + places, mask=mask) + tl.load(beta + places, mask=mask),
        mask=mask,
    )


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows > 0 and cols > 0:
        each[(rows,)](x, gamma, beta, out, eps, cols, BLOCK=triton.next_power_of_2(cols))
