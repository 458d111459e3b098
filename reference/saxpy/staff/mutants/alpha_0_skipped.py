"""Mistake: returns early where alpha is 0, as some BLAS libraries do: but 0 * NaN and 0 * inf are NaN."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x, y, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x + offsets, mask=mask)
    right = tl.load(y + offsets, mask=mask)
    tl.store(y + offsets, alpha * left + right, mask=mask)


def solve(x, y, alpha, n):
    if n == 0 or alpha == 0:
        return
    saxpy_kernel[(triton.cdiv(n, 256),)](x, y, alpha, n, BLOCK=256)
