"""Mistake: no mask, so the last block writes beyond the array unless n is a multiple of the block."""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets)
    result = 0.5 * value * (1.0 + tl.math.erf(value * 0.7071067811865476))
    tl.store(out + offsets, result)


def solve(x, out, n):
    if n == 0:
        return
    gelu_kernel[(triton.cdiv(n, 256),)](x, out, BLOCK=256)
