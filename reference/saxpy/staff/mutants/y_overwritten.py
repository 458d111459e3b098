"""Mistake: forgets the sum: y becomes alpha * x."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x, y, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x + offsets, mask=mask)
    tl.store(y + offsets, alpha * left, mask=mask)


def solve(x, y, alpha, n):
    if n == 0:
        return
    saxpy_kernel[(triton.cdiv(n, 256),)](x, y, alpha, n, BLOCK=256)
