"""Mistake: lets a hundredth of negative values through, which is another function (leaky ReLU)."""

import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, tl.where(values < 0, 0.01 * values, values), mask=mask)


def solve(x, out, n):
    if n == 0:
        return
    relu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
