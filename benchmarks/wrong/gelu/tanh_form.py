# Mistake: GELU's approximation by tanh, not the exact one.
# Says: tanh ; approximat
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    inner = 0.7978845608028654 * (v + 0.044715 * v * v * v)  # HERE
    tl.store(y + i, 0.5 * v * (1 + libdevice.tanh(inner)), mask=i < n)


def solve(x, out, n):
    if n:
        gelu[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
