"""Option prices by Monte Carlo."""

import triton
import triton.language as tl


@triton.jit
def kernel(spot, strike, volatility, time, out, rate, seed, rows, paths, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(spot, strike, volatility, time, out, rate, seed, rows, paths):
    """Write the result into the output; return nothing.

    spot        input   float32 [rows]
    strike      input   float32 [rows]
    volatility  input   float32 [rows]
    time        input   float32 [rows]
    out         output  float32 [rows]
    rate        scalar  float32
    seed        scalar  uint32
    rows        size    int64
    paths       size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
