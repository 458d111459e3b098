"""Log-softmax by rows."""

import triton
import triton.language as tl


@triton.jit
def kernel(x, out, rows, cols, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(x, out, rows, cols):
    """Write the result into the output; return nothing.

    x     input   float32 [rows, cols]
    out   output  float32 [rows, cols]
    rows  size    int64
    cols  size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
