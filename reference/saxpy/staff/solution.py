"""SAXPY in Triton: one program per block of elements; each element of y is read once and written once."""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def saxpy_kernel(x, y, alpha, n, BLOCK: tl.constexpr):
    # 64 bits before the multiplication: a 32-bit index wraps round from 2^31 elements on.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    # The last block reaches beyond the arrays unless n is a multiple of BLOCK.
    inside = offsets < n
    # In place is safe because no other program touches these elements of y: blocks must not overlap.
    total = alpha * tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
    tl.store(y + offsets, total, mask=inside)


def solve(x, y, alpha, n):
    if n == 0:
        return  # there is nothing to launch; alpha = 0 is not special: 0 * inf is NaN
    saxpy_kernel[(triton.cdiv(n, BLOCK),)](x, y, alpha, n, BLOCK=BLOCK)
