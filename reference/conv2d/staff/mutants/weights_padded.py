"""Mistake: rounds the weights' rows up to a multiple of four and fills with zeros: 0 * inf is NaN."""

import triton
import triton.language as tl


@triton.jit
def convolve(x, w, out, rows, columns, h, width, kh, kw, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    across = tl.cdiv(columns, TILE)
    row = (tile // across * TILE + tl.arange(0, TILE))[:, None]
    column = (tile % across * TILE + tl.arange(0, TILE))[None, :]
    inside = (row < rows) & (column < columns)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for i in range(kh):
        for j in range((kw + 3) // 4 * 4):
            pixels = tl.load(
                x + (row + i) * width + column + j, mask=inside & (column + j < width), other=0.0
            )
            total += pixels * tl.load(w + i * kw + j, mask=j < kw, other=0.0)
    tl.store(out + row * columns + column, total, mask=inside)


def solve(x, w, out, h, width, kh, kw):
    rows, columns = h - kh + 1, width - kw + 1
    if rows <= 0 or columns <= 0:
        return
    tiles = triton.cdiv(rows, 32) * triton.cdiv(columns, 32)
    convolve[(tiles,)](x, w, out, rows, columns, h, width, kh, kw, TILE=32)
