"""Breadth-first search."""

import triton
import triton.language as tl


@triton.jit
def kernel(row_ptr, col, level, n, m, source, depth, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(row_ptr, col, level, n, m, source, depth):
    """Write the result into the output; return nothing.

    row_ptr  input   int32 [n + 1]
    col      input   int32 [m]
    level    output  int32 [n]
    n        size    int64
    m        size    int64
    source   size    int64
    depth    size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
