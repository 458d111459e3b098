"""Grouped matrix products of experts."""

import triton
import triton.language as tl


@triton.jit
def kernel(x, w, offsets, out, tokens, experts, k, n, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(x, w, offsets, out, tokens, experts, k, n):
    """Write the result into the output; return nothing.

    x        input   float16 [tokens, k]
    w        input   float16 [experts, k, n]
    offsets  input   int64 [experts + 1]
    out      output  float16 [tokens, n]
    tokens   size    int64
    experts  size    int64
    k        size    int64
    n        size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
