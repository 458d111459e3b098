"""Mistake: looks at the sign bit alone, which NaN can have too."""

import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask)
    negative = values.to(tl.int32, bitcast=True) < 0
    tl.store(out + offsets, tl.where(negative, 0.0, values), mask=mask)


def solve(x, out, n):
    if n == 0:
        return
    relu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
