"""Mistake: computes in float16, as for a deep-learning kernel, where the challenge says float32."""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    value = value.to(tl.float16).to(tl.float32)
    result = 0.5 * value * (1.0 + tl.math.erf(value * 0.7071067811865476))
    tl.store(out + offsets, result, mask=inside)


def solve(x, out, n):
    if n == 0:
        return
    gelu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
