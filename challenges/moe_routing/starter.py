"""Routing tokens to experts."""

import triton
import triton.language as tl


@triton.jit
def kernel(logits, chosen, weights, counts, offsets, order, tokens, experts, k, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(logits, chosen, weights, counts, offsets, order, tokens, experts, k):
    """Write the result into the output; return nothing.

    logits   input   float32 [tokens, experts]
    chosen   output  int32 [tokens, k]
    weights  output  float32 [tokens, k]
    counts   output  int32 [experts]
    offsets  output  int64 [experts + 1]
    order    output  int32 [tokens * k]
    tokens   size    int64
    experts  size    int64
    k        size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
