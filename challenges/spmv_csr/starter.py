"""Sparse matrix times vector (CSR)."""

import triton
import triton.language as tl


@triton.jit
def kernel(row_ptr, col, val, x, out, rows, cols, nnz, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(row_ptr, col, val, x, out, rows, cols, nnz):
    """Write the result into the output; return nothing.

    row_ptr  input   int64 [rows + 1]
    col      input   int64 [nnz]
    val      input   float32 [nnz]
    x        input   float32 [cols]
    out      output  float32 [rows]
    rows     size    int64
    cols     size    int64
    nnz      size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
