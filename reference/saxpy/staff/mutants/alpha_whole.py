"""Mistake: hands alpha over as a whole number, so that 1.7 becomes 1."""

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
    if n == 0:
        return
    factor = int(alpha) if alpha == alpha else alpha
    saxpy_kernel[(triton.cdiv(n, 256),)](x, y, factor, n, BLOCK=256)
