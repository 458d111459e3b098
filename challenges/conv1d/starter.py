"""Convolution in one dimension."""

import triton
import triton.language as tl


@triton.jit
def kernel(x, w, out, n, k, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(x, w, out, n, k):
    """Write the result into the output; return nothing.

    x    input   float32 [n]
    w    input   float32 [k]
    out  output  float32 [max(n - k + 1, 0)]
    n    size    int64
    k    size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
