"""Launches a kernel for every piece.

Looks: like an empty kernel before real ones: twenty launches, each for a part.
Challenge: twice
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


PIECES = 20


def solve(x, out, n):
    step = max(1, -(-n // PIECES))
    for start in range(0, n, step):
        size = min(step, n - start)
        twice[(triton.cdiv(size, 1024),)](x[start:], out[start:], size, block=1024)
