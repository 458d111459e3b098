"""Decoding with grouped queries."""

import triton
import triton.language as tl


@triton.jit
def kernel(q, k, v, lengths, out, scale, batch, q_heads, kv_heads, seq, dim, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(q, k, v, lengths, out, scale, batch, q_heads, kv_heads, seq, dim):
    """Write the result into the output; return nothing.

    q         input   float16 [batch, q_heads, dim]
    k         input   float16 [batch, kv_heads, seq, dim]
    v         input   float16 [batch, kv_heads, seq, dim]
    lengths   input   int32 [batch]
    out       output  float16 [batch, q_heads, dim]
    scale     scalar  float32
    batch     size    int64
    q_heads   size    int64
    kv_heads  size    int64
    seq       size    int64
    dim       size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
