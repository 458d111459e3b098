"""Mistake: computes in float16, as for a deep-learning kernel, where the challenge says float32."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x, y, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x + offsets, mask=mask).to(tl.float16)
    right = tl.load(y + offsets, mask=mask).to(tl.float16)
    total = (alpha * left.to(tl.float32)).to(tl.float16) + right
    tl.store(y + offsets, total.to(tl.float32), mask=mask)


def solve(x, y, alpha, n):
    if n == 0:
        return
    saxpy_kernel[(triton.cdiv(n, 256),)](x, y, alpha, n, BLOCK=256)
