"""Mistake: moves the last block back so that it ends with the array, to do without a mask. In place, the
elements that two blocks share are updated twice."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x, y, alpha, n, BLOCK: tl.constexpr):
    first = tl.minimum(tl.program_id(0).to(tl.int64) * BLOCK, tl.maximum(n - BLOCK, 0))
    offsets = first + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x + offsets, mask=mask)
    right = tl.load(y + offsets, mask=mask)
    tl.store(y + offsets, alpha * left + right, mask=mask)


def solve(x, y, alpha, n):
    if n == 0:
        return
    saxpy_kernel[(triton.cdiv(n, 256),)](x, y, alpha, n, BLOCK=256)
