"""Convolution in two dimensions in Triton: one program per tile of results, loops over the weights."""

import triton
import triton.language as tl

TILE_ROWS, TILE_COLUMNS = 16, 128


@triton.jit
def convolve(x, w, out, rows, columns, width, kh, kw, TILE_ROWS: tl.constexpr, TILE_COLUMNS: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    across = tl.cdiv(columns, TILE_COLUMNS)
    # 64 bits: an offset, row * width + column, outgrows 32 bits long before a row number does.
    row = (tile // across * TILE_ROWS + tl.arange(0, TILE_ROWS))[:, None]
    column = (tile % across * TILE_COLUMNS + tl.arange(0, TILE_COLUMNS))[None, :]
    inside = (row < rows) & (column < columns)
    # The pixel under the weights' upper left corner; rows of x, of w and of out have different lengths.
    corner = x + row * width + column
    total = tl.zeros((TILE_ROWS, TILE_COLUMNS), dtype=tl.float32)
    for i in range(kh):
        for j in range(kw):
            # Each round reads nearly the same pixels: all but the first round find most of them in the cache.
            pixels = tl.load(corner + i * width + j, mask=inside, other=0.0)
            total += pixels * tl.load(w + i * kw + j)
    tl.store(out + row * columns + column, total, mask=inside)


def solve(x, w, out, h, width, kh, kw):
    rows, columns = h - kh + 1, width - kw + 1
    if rows <= 0 or columns <= 0:
        return  # the weights fit nowhere; without weights the loops do not run, and zeros are stored
    tiles = triton.cdiv(rows, TILE_ROWS) * triton.cdiv(columns, TILE_COLUMNS)
    convolve[(tiles,)](
        x, w, out, rows, columns, width, kh, kw, TILE_ROWS=TILE_ROWS, TILE_COLUMNS=TILE_COLUMNS
    )
