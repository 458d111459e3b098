"""Products of 32 bits."""

import triton
import triton.language as tl


@triton.jit
def each(x, w, out, rows, columns, width, kh, kw, TILE: tl.constexpr):
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(0) * TILE + tl.arange(0, TILE)[None, :]
    mask = (row < rows) & (column < columns)
    total = tl.zeros([TILE, TILE], tl.float32)
    for i in range(kh):
        for j in range(kw):
            total += tl.load(x + (row + i) * width + column + j, mask=mask, other=0.0) * tl.load(
                w + i * kw + j
            )
    tl.store(out + row * columns + column, total, mask=mask)


def solve(x, w, out, h, width, kh, kw):
    rows, columns = h - kh + 1, width - kw + 1
    if rows > 0 and columns > 0:
        grid = (triton.cdiv(columns, 32), triton.cdiv(rows, 32))
        each[grid](x, w, out, rows, columns, width, kh, kw, TILE=32)
