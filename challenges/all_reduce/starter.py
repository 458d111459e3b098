"""All-reduce on two GPUs."""

import triton
import triton.language as tl


@triton.jit
def kernel(x, out, n, gpus, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(x, out, n, gpus):
    """Write the result into the output; return nothing.

    x    input   float32 [n]  one on each of 2 GPUs
    out  output  float32 [n]  one on each of 2 GPUs
    n    size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
