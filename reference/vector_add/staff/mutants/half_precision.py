"""Mistake: adds in float16, as for a deep-learning kernel, where the challenge says float32."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(a + offsets, mask=mask).to(tl.float16)
    right = tl.load(b + offsets, mask=mask).to(tl.float16)
    tl.store(out + offsets, (left + right).to(tl.float32), mask=mask)


def solve(a, b, out, n):
    if n == 0:
        return
    add_kernel[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
