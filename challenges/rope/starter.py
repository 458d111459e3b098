"""Rotary position embedding."""

import triton
import triton.language as tl


@triton.jit
def kernel(x, cos, sin, out, heads, seq, dim, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(x, cos, sin, out, heads, seq, dim):
    """Write the result into the output; return nothing.

    x      input   float32 [heads, seq, dim]
    cos    input   float32 [seq, dim // 2]
    sin    input   float32 [seq, dim // 2]
    out    output  float32 [heads, seq, dim]
    heads  size    int64
    seq    size    int64
    dim    size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
