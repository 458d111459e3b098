"""Mistake: no mask, so the last block writes beyond the array unless n is a multiple of the block."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(a + offsets) + tl.load(b + offsets))


def solve(a, b, out, n):
    if n == 0:
        return
    add_kernel[(triton.cdiv(n, 256),)](a, b, out, BLOCK=256)
