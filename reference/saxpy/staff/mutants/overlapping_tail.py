"""Mistake: does the whole blocks first, then the last 256 elements, to do without a mask. In place, the elements
that belong to both are updated twice."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x, y, alpha, first, n, BLOCK: tl.constexpr):
    offsets = first + tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x + offsets, mask=mask)
    right = tl.load(y + offsets, mask=mask)
    tl.store(y + offsets, alpha * left + right, mask=mask)


def solve(x, y, alpha, n):
    if n >= 256:
        saxpy_kernel[(n // 256,)](x, y, alpha, 0, n, BLOCK=256)
    if n % 256 > 0:
        saxpy_kernel[(1,)](x, y, alpha, max(n - 256, 0), n, BLOCK=256)
