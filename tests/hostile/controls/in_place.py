"""Updates an in-out argument in place.

Looks: as if it changed its inputs.
Challenge: axpy
On: cpu
"""

import triton
import triton.language as tl


@triton.jit
def axpy(x, y, count, alpha, total, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < total
    value = alpha * tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(y + offsets, value, mask=mask)
    if tl.program_id(0) == 0:
        tl.store(count, total.to(tl.int64))


def solve(x, y, count, alpha, rows, cols):
    total = rows * cols
    axpy[(max(1, triton.cdiv(total, 64)),)](x, y, count, alpha, total, block=64)
