"""Vector addition in Triton: one program per block of elements, a mask for the last block."""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    # 64 bits before the multiplication: a 32-bit index wraps round from 2^31 elements on.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    # The last block reaches beyond the arrays unless n is a multiple of BLOCK.
    inside = offsets < n
    total = tl.load(a + offsets, mask=inside) + tl.load(b + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


def solve(a, b, out, n):
    if n == 0:
        return  # there is nothing to launch
    add_kernel[(triton.cdiv(n, BLOCK),)](a, b, out, n, BLOCK=BLOCK)
