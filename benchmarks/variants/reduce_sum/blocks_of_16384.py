"""Programs of 16384 elements."""

import triton
import triton.language as tl


@triton.jit
def add_up(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0))


def solve(x, out, n):
    out.zero_()
    if n > 0:
        add_up[(triton.cdiv(n, 16384),)](x, out, n, BLOCK=16384, num_warps=8)
