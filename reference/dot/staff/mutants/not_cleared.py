"""Mistake: adds to out without setting it to 0 first: what lay there before is counted too."""

import triton
import triton.language as tl


@triton.jit
def add_up(a, b, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(a + offsets, mask=mask, other=0.0)
    right = tl.load(b + offsets, mask=mask, other=0.0)
    values = left * right
    tl.atomic_add(out, tl.sum(values, axis=0))


def solve(a, b, out, n):
    if n == 0:
        out.zero_()
    else:
        add_up[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
