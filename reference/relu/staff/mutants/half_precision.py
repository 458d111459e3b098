"""Mistake: goes through float16, where the challenge says float32."""

import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask).to(tl.float16)
    tl.store(out + offsets, tl.where(values < 0, 0.0, values).to(tl.float32), mask=mask)


def solve(x, out, n):
    if n == 0:
        return
    relu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
