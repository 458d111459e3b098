"""Matrix transpose in Triton: one program per square tile, which it reads by rows and writes by columns."""

import triton
import triton.language as tl

TILE = 64
# Tiles are walked in groups of this many rows of tiles: programs that run together then read long pieces of rows of x
# and write long pieces of rows of out. One row of tiles after the other, out would be written in scraps.
GROUP = 16


@triton.jit
def transpose_kernel(x, out, rows, cols, TILE: tl.constexpr, GROUP: tl.constexpr):
    tile = tl.program_id(0)
    down, across = tl.cdiv(rows, TILE), tl.cdiv(cols, TILE)
    first = tile // (GROUP * across) * GROUP
    height = tl.minimum(down - first, GROUP)
    tile_row = first + tile % (GROUP * across) % height
    tile_column = tile % (GROUP * across) // height

    # 64 bits: an element's offset, row * cols + column, outgrows 32 bits long before a row number does.
    row = tile_row.to(tl.int64) * TILE + tl.arange(0, TILE)
    column = tile_column.to(tl.int64) * TILE + tl.arange(0, TILE)
    # Neighbouring lanes read neighbouring columns of x ...
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    values = tl.load(x + row[:, None] * cols + column[None, :], mask=inside)
    # ... and write neighbouring columns of out: the numbers change lanes in between, through shared memory.
    inside = (column[:, None] < cols) & (row[None, :] < rows)
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(values), mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return  # there is nothing to write
    tiles = triton.cdiv(rows, TILE) * triton.cdiv(cols, TILE)
    transpose_kernel[(tiles,)](x, out, rows, cols, TILE=TILE, GROUP=GROUP, num_warps=8)
