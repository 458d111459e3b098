"""Mistake: rounds the number of tiles down, so that cut-off tiles are never written."""

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
    if rows < 32 or cols < 32:
        return
    transpose_kernel[(rows // 32, cols // 32)](x, out, rows, cols, TILE=32)
