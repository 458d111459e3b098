"""Sparse matrix times dense matrix (CSR)."""

import triton
import triton.language as tl


@triton.jit
def kernel(row_ptr, col, val, b, out, rows, cols, nnz, n, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


def solve(row_ptr, col, val, b, out, rows, cols, nnz, n):
    """Write the result into the output; return nothing.

    row_ptr  input   int64 [rows + 1]
    col      input   int64 [nnz]
    val      input   float32 [nnz]
    b        input   float32 [cols, n]
    out      output  float32 [rows, n]
    rows     size    int64
    cols     size    int64
    nnz      size    int64
    n        size    int64
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
