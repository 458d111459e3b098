"""Decoding with paged caches."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    q,
    k_pages,
    v_pages,
    table,
    lengths,
    out,
    scale,
    sequences,
    q_heads,
    kv_heads,
    pages,
    page_size,
    max_pages,
    dim,
    BLOCK: tl.constexpr,
):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(
    q,
    k_pages,
    v_pages,
    table,
    lengths,
    out,
    scale,
    sequences,
    q_heads,
    kv_heads,
    pages,
    page_size,
    max_pages,
    dim,
):
    """Write the result into the output; return nothing.

    q          input   float16 [sequences, q_heads, dim]
    k_pages    input   float16 [pages, page_size, kv_heads, dim]
    v_pages    input   float16 [pages, page_size, kv_heads, dim]
    table      input   int32 [sequences, max_pages]
    lengths    input   int32 [sequences]
    out        output  float16 [sequences, q_heads, dim]
    scale      scalar  float32
    sequences  size    int64
    q_heads    size    int64
    kv_heads   size    int64
    pages      size    int64
    page_size  size    int64
    max_pages  size    int64
    dim        size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
