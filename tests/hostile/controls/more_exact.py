"""More exact than necessary.

Looks: like the reference itself: computes in float64 and rounds once.
Challenge: twice
Like: unusual_numerics
On: cpu, gpu
"""

import triton
import triton.language as tl


@triton.jit
def exact(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask).to(tl.float64)
    tl.store(out + offsets, (value + value).to(tl.float32), mask=mask)


def solve(x, out, n):
    if n:
        exact[(triton.cdiv(n, 256),)](x, out, n, block=256)
