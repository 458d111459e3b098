"""Mistake: puts each tile in its mirrored place without turning what is in it."""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x, out, rows, cols, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    values = tl.load(x + row[:, None] * cols + column[None, :], mask=inside)
    width = tl.arange(0, TILE)
    turned_row = tl.program_id(1).to(tl.int64) * TILE + width
    turned_column = tl.program_id(0).to(tl.int64) * TILE + width
    inside = (turned_row[:, None] < cols) & (turned_column[None, :] < rows)
    tl.store(out + turned_row[:, None] * rows + turned_column[None, :], values, mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    transpose_kernel[(triton.cdiv(rows, 32), triton.cdiv(cols, 32))](x, out, rows, cols, TILE=32)
