"""Run-length encoding."""

import triton
import triton.language as tl


@triton.jit
def kernel(x, values, lengths, count, n, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(x, values, lengths, count, n):
    """Write the result into the output; return nothing.

    x        input   int32 [n]
    values   output  int32 [n]
    lengths  output  int32 [n]
    count    output  int64 [1]
    n        size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
