"""Mistake: uses the tanh approximation, which many models use; the challenge wants the exact form."""

import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside)
    inner = 0.7978845608 * (value + 0.044715 * value * value * value)
    # tanh by exp, clamped so that exp cannot overflow; only infinities notice the clamp.
    power = tl.exp(2.0 * tl.minimum(tl.maximum(inner, -20.0), 20.0))
    result = 0.5 * value * (1.0 + (power - 1.0) / (power + 1.0))
    tl.store(out + offsets, result, mask=inside)


def solve(x, out, n):
    if n == 0:
        return
    gelu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
