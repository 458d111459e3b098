"""Matrix multiplication of int8 in Triton: tensor cores, int32 sums, and scales before the store."""

import torch
import triton
import triton.language as tl

# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of a
# and columns of b in the L2 cache.
GROUP = 8


@triton.jit
def matmul_kernel(
    a,
    b,
    row_scale,
    col_scale,
    out,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    WHOLE_TILES: tl.constexpr,
):
    tile = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    first_m = tile // (GROUP * tiles_n) * GROUP
    group_rows = tl.minimum(tiles_m - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group_rows
    tile_n = tile % (GROUP * tiles_n) // group_rows

    # 64 bits: an element's offset, row * n + column, outgrows 32 bits long before a row number does.
    rows = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K).to(tl.int64)
    in_rows, in_columns = rows < m, columns < n
    # Pointers that walk along k: one addition a step instead of a multiplication.
    left_at = a + rows[:, None] * k + depth[None, :]
    right_at = b + depth[:, None] * n + columns[None, :]
    down = tl.full((), BLOCK_K, tl.int64) * n

    # Exact: products and sums of int8 are int32.
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for start in range(0, k, BLOCK_K):
        if WHOLE_TILES:
            left = tl.load(left_at)
            right = tl.load(right_at)
        else:
            left = tl.load(left_at, mask=in_rows[:, None] & (depth[None, :] < k - start), other=0)
            right = tl.load(right_at, mask=in_columns[None, :] & (depth[:, None] < k - start), other=0)
        total = tl.dot(left, right, total, out_dtype=tl.int32)
        left_at += BLOCK_K
        right_at += down
    of_row = tl.load(row_scale + rows, mask=in_rows, other=0.0)
    of_column = tl.load(col_scale + columns, mask=in_columns, other=0.0)
    scaled = total.to(tl.float32) * of_row[:, None] * of_column[None, :]
    out_at = out + rows[:, None] * n + columns[None, :]
    tl.store(out_at, scaled, mask=in_rows[:, None] & in_columns[None, :])


def tiling(m, n, device):
    """Block sizes, warps and stages, chosen by size: no search at run time, the same choice every time."""
    # Enough large tiles to give each multiprocessor one; and 144 KiB of shared memory for three stages of them, which
    # GPUs of the Ampere and Hopper generations for data centres have (compute capability 8.0 and 9.0).
    capable = device.type == "cuda" and torch.cuda.get_device_capability(device) in ((8, 0), (9, 0))
    if capable and m * n >= 2048 * 2048:
        return {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 128, "num_warps": 8, "num_stages": 3}
    if m * n >= 512 * 512:
        return {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64, "num_warps": 4, "num_stages": 4}
    return {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}


def solve(a, b, row_scale, col_scale, out, m, n, k):
    if m == 0 or n == 0:
        return  # out is empty; k = 0 is not special: the loop does not run, and 0 times the scales is stored
    config = tiling(m, n, out.device)
    block_m, block_n, block_k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    whole = m % block_m == 0 and n % block_n == 0 and k % block_k == 0
    tiles = triton.cdiv(m, block_m) * triton.cdiv(n, block_n)
    matmul_kernel[(tiles,)](
        a, b, row_scale, col_scale, out, m, n, k, GROUP=GROUP, WHOLE_TILES=whole, **config
    )
