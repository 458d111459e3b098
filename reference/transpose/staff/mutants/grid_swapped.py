"""Mistake: counts tiles down by the columns and tiles across by the rows."""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x, out, rows, cols, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    values = tl.load(x + row[:, None] * cols + column[None, :], mask=inside)
    inside = (column[:, None] < cols) & (row[None, :] < rows)
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(values), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    transpose_kernel[(triton.cdiv(cols, 32), triton.cdiv(rows, 32))](x, out, rows, cols, TILE=32)
