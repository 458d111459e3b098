"""Max pooling in Triton: a program has a tile of results, and goes through the places of the window."""

import triton
import triton.language as tl

# Results of a tile.
TILE = 1024
WIDEST = 256
# Up to so large a window all loads are written out, so that they are independent.
UNROLLED = 5


@triton.jit
def pool_kernel(
    x,
    out,
    width,
    rows,
    columns,
    k,
    s,
    across,
    K: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    tile = tl.program_id(0)
    row = (tile // across).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    column = (tile % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (row < rows) & (column < columns)
    corner = x + row * s * width + column * s
    # -inf is no larger than anything; with propagate_nan, NaN is larger than everything.
    best = tl.full((ROWS, COLUMNS), float("-inf"), tl.float32)
    if K > 0:
        for i in tl.static_range(K):
            for j in tl.static_range(K):
                value = tl.load(corner + i * width + j, mask=inside, other=float("-inf"))
                best = tl.maximum(best, value, propagate_nan=tl.PropagateNan.ALL)
    else:
        for i in range(k):
            for j in range(k):
                value = tl.load(corner + i * width + j, mask=inside, other=float("-inf"))
                best = tl.maximum(best, value, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out + row * columns + column, best, mask=inside)


def solve(x, out, h, width, k, s):
    if h < k or width < k:
        return  # no window fits
    rows, columns = (h - k) // s + 1, (width - k) // s + 1
    tile_columns = min(triton.next_power_of_2(columns), WIDEST)
    tile_rows = TILE // tile_columns
    across = triton.cdiv(columns, tile_columns)
    pool_kernel[(across * triton.cdiv(rows, tile_rows),)](
        x,
        out,
        width,
        rows,
        columns,
        k,
        s,
        across,
        K=k if k <= UNROLLED else 0,
        ROWS=tile_rows,
        COLUMNS=tile_columns,
    )
