"""2:4 structured sparse matrix product."""

import triton
import triton.language as tl


@triton.jit
def kernel(values, places, b, out, m, n, words, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(values, places, b, out, m, n, words):
    """Write the result into the output; return nothing.

    values  input   float16 [m, 16 * words]
    places  input   uint8 [m, 4 * words]
    b       input   float16 [32 * words, n]
    out     output  float16 [m, n]
    m       size    int64
    n       size    int64
    words   size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
