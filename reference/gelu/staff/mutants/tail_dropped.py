"""Mistake: the number of blocks is rounded down, so the last n % BLOCK elements are never written."""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    result = 0.5 * value * (1.0 + tl.math.erf(value * 0.7071067811865476))
    tl.store(out + offsets, result, mask=inside)


def solve(x, out, n):
    blocks = n // 256
    if blocks == 0:
        return
    gelu_kernel[(blocks,)](x, out, n, BLOCK=256)
