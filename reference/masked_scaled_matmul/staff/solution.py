"""Masked and scaled matrix product in Triton: one program per tile of out; mask and scale before the store."""

import triton
import triton.language as tl

BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 32
# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of a
# and columns of b in the L2 cache.
GROUP = 8


@triton.jit
def masked_matmul_kernel(
    a,
    b,
    mask,
    out,
    scale,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    tile = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    first_m = tile // (GROUP * tiles_n) * GROUP
    group_rows = tl.minimum(tiles_m - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group_rows
    tile_n = tile % (GROUP * tiles_n) // group_rows

    # 64 bits: an element's offset, row * k + column, outgrows 32 bits long before a row number does.
    rows = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.arange(0, BLOCK_K).to(tl.int64)
    in_rows, in_columns = rows[:, None] < m, columns[None, :] < n

    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        depth = start + steps
        left = tl.load(a + rows[:, None] * k + depth[None, :], mask=in_rows & (depth[None, :] < k), other=0.0)
        right = tl.load(
            b + depth[:, None] * n + columns[None, :], mask=in_columns & (depth[:, None] < k), other=0.0
        )
        # "ieee" keeps float32; the default on tensor cores is TF32, which rounds the inputs to 10 bits.
        total = tl.dot(left, right, total, input_precision="ieee")

    at = rows[:, None] * n + columns[None, :]
    keep = tl.load(mask + at, mask=in_rows & in_columns, other=0)
    # Chosen, not multiplied: NaN * 0 would be NaN, and a mask of 255 is no factor.
    tl.store(out + at, tl.where(keep != 0, total * scale, 0.0), mask=in_rows & in_columns)


def solve(a, b, mask, out, scale, m, n, k):
    if m == 0 or n == 0:
        return  # out is empty; k = 0 is not special: the loop does not run, and zeros are stored
    tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    masked_matmul_kernel[(tiles,)](
        a, b, mask, out, scale, m, n, k, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K, GROUP=GROUP
    )
