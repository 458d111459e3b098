"""Programs of 128 elements and four warps: one element a thread."""

import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)


def solve(a, b, out, n):
    if n > 0:
        add[(triton.cdiv(n, 128),)](a, b, out, n, BLOCK=128, num_warps=4)
