"""The kernel to compare others with.

Looks: like nothing at all.
Challenge: twice
Timed: yes
On: cpu, gpu
"""

import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < n
    tl.store(out + offsets, 2 * tl.load(x + offsets, mask=mask), mask=mask)


def honest(x, out, n):
    if n:
        twice[(triton.cdiv(n, 1024),)](x, out, n, block=1024)


def solve(x, out, n):
    honest(x, out, n)
