"""Mistake: adds to out without setting it to 0 first: what lay there before is counted too."""

import triton
import triton.language as tl


@triton.jit
def add_up(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out, tl.sum(values, axis=0))


def solve(x, out, n):
    if n == 0:
        out.zero_()
    else:
        add_up[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
