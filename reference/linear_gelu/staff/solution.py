"""A linear layer with GELU in Triton: tensor cores, float32 sums, and bias and GELU while these are in registers."""

import torch
import triton
import triton.language as tl

# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of x
# and columns of w in the L2 cache.
GROUP = 8
# From that many results on, matrices that are no multiples of a tile are copied with zeros at their ends. A copy takes
# a few percent of the product's time. Masked loads cannot be wide, and take several times as long.
WORTH_A_COPY = 128 * 128


@triton.jit
def gelu(y):
    return 0.5 * y * (1.0 + tl.math.erf(y * 0.7071067811865476))


@triton.jit
def linear_kernel(
    x,
    w,
    bias,
    out,
    m,
    n,
    k,
    x_width,
    w_width,
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

    # 64 bits: an element's offset, row * k + column, outgrows 32 bits long before a row number does.
    rows = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K).to(tl.int64)
    in_rows, in_columns = rows[:, None] < m, columns[None, :] < n
    # Pointers that walk along k: one addition a step instead of a multiplication. Rows beyond m are the last row again.
    left_at = x + tl.minimum(rows, m - 1)[:, None] * x_width + depth[None, :]
    right_at = w + depth[:, None] * w_width + columns[None, :]
    down = tl.full((), BLOCK_K, tl.int64) * w_width

    # The sums are float32 throughout. Only the finished result is rounded.
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        if WHOLE_TILES:
            left = tl.load(left_at)
            right = tl.load(right_at)
        else:
            # Both tiles are masked along k: 0 * NaN of unmasked memory would be NaN.
            left = tl.load(left_at, mask=in_rows & (depth[None, :] < k - start), other=0.0)
            right = tl.load(right_at, mask=in_columns & (depth[:, None] < k - start), other=0.0)
        total = tl.dot(left, right, total)
        left_at += BLOCK_K
        right_at += down
    added = tl.load(bias + columns, mask=columns < n, other=0.0).to(tl.float32)
    result = gelu(total + added[None, :])
    tl.store(out + rows[:, None] * n + columns[None, :], result.to(tl.float16), mask=in_rows & in_columns)


@triton.jit
def pad(matrix, to, rows, columns, wide, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // wide, at % wide
    values = tl.load(matrix + row * columns + column, mask=(row < rows) & (column < columns), other=0.0)
    tl.store(to + at, values, mask=at < count)


def padded(matrix, high, wide):
    """With zeros below and on the right."""
    rows, columns = matrix.shape
    if (rows, columns) == (high, wide):
        return matrix
    to = torch.empty((high, wide), dtype=matrix.dtype, device=matrix.device)
    pad[(triton.cdiv(high * wide, 4096),)](matrix, to, rows, columns, wide, high * wide, BLOCK=4096)
    return to


def tiling(m, n, device):
    """Block sizes, warps and stages, chosen by size: no search at run time, the same choice every time."""
    # Enough large tiles to give each multiprocessor one; and 144 KiB of shared memory for three stages of them, which
    # GPUs of the Ampere and Hopper generations for data centres have (compute capability 8.0 and 9.0).
    capable = device.type == "cuda" and torch.cuda.get_device_capability(device) in ((8, 0), (9, 0))
    if capable and m * n >= 2048 * 2048:
        return {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}
    if m * n >= 512 * 512:
        return {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 4}
    return {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "num_warps": 4, "num_stages": 3}


def solve(x, w, bias, out, m, n, k):
    if m == 0 or n == 0:
        return  # out is empty; k = 0 is not special: the loop does not run, and bias and GELU follow
    config = tiling(m, n, out.device)
    block_m, block_n, block_k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    whole = n % block_n == 0 and k % block_k == 0
    if not whole and m * n >= WORTH_A_COPY:
        deep, wide = triton.cdiv(k, block_k) * block_k, triton.cdiv(n, block_n) * block_n
        x, w, whole = padded(x, m, deep), padded(w, deep, wide), True
    tiles = triton.cdiv(m, block_m) * triton.cdiv(n, block_n)
    linear_kernel[(tiles,)](
        x, w, bias, out, m, n, k, x.shape[1], w.shape[1], GROUP=GROUP, WHOLE_TILES=whole, **config
    )
