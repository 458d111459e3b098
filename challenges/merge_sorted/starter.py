"""Merging sorted arrays."""

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, out, n, m, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(a, b, out, n, m):
    """Write the result into the output; return nothing.

    a    input   int32 [n]
    b    input   int32 [m]
    out  output  int32 [n + m]
    n    size    int64
    m    size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
