"""Mistake: the number of blocks is rounded down, so the last n % BLOCK elements are left as they were."""

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
    blocks = n // 256
    if blocks == 0:
        return
    saxpy_kernel[(blocks,)](x, y, alpha, n, BLOCK=256)
