"""Computes in an unusual way.

Looks: wrong at first sight: subtracts from zero, and adds it back.
Challenge: twice
On: cpu, gpu
"""

import triton
import triton.language as tl


@triton.jit
def around(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask, other=0.0)
    negative = -value
    tl.store(out + offsets, 0.25 * (value * 4 - negative * 4), mask=mask)


def solve(x, out, n):
    if n:
        around[(triton.cdiv(n, 512),)](x, out, n, block=512)
