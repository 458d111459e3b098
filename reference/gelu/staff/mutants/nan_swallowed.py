"""Mistake: cleans NaN away with 'value == value', so that a NaN of the input comes out as 0."""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    result = 0.5 * value * (1.0 + tl.math.erf(value * 0.7071067811865476))
    result = tl.where(value == value, result, 0.0)
    tl.store(out + offsets, result, mask=inside)


def solve(x, out, n):
    if n == 0:
        return
    gelu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
