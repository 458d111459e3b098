"""Matrix multiplication of int8 in Triton: tensor cores, int32 sums, and scales before the store."""

import torch
import triton
import triton.language as tl

# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of a
# and columns of b in the L2 cache.
GROUP = 8
SQUARE = 64  # side of the squares in which matrices are copied


@triton.jit
def padded_kernel(matrix, to, rows, columns, width, squares, TRANSPOSED: tl.constexpr, SQUARE: tl.constexpr):
    """`to` has rows of `width` elements: the matrix's rows or columns, then zeros."""
    square = tl.program_id(0).to(tl.int64)
    row = (square // squares * SQUARE + tl.arange(0, SQUARE))[:, None]
    column = (square % squares * SQUARE + tl.arange(0, SQUARE))[None, :]
    values = tl.load(matrix + row * columns + column, mask=(row < rows) & (column < columns), other=0)
    if TRANSPOSED:
        tl.store(to + tl.trans(column * width + row), tl.trans(values))
    else:
        tl.store(to + row * width + column, values)


@triton.jit
def matmul_kernel(
    a,
    b_columns,
    row_scale,
    col_scale,
    out,
    m,
    n,
    width,
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

    # 64 bits: an element's offset, row * n + column, outgrows 32 bits long before a row number does.
    rows = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    # Whole tiles of both are in memory, so nothing is masked here.
    left_at = a + rows[:, None] * width + depth[None, :]
    right_at = b_columns + columns[None, :] * width + depth[:, None]

    # Exact: products and sums of int8 are int32.
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for _ in range(0, width, BLOCK_K):
        total = tl.dot(tl.load(left_at), tl.load(right_at), total, out_dtype=tl.int32)
        left_at += BLOCK_K
        right_at += BLOCK_K
    in_rows, in_columns = rows < m, columns < n
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
    return {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}


def padded(matrix, rows, columns, height, width, transposed=False):
    """A copy of height x width elements, in squares: what is outside the matrix, or its transpose, is 0."""
    to = torch.empty(height * width, dtype=matrix.dtype, device=matrix.device)
    high, wide = (width, height) if transposed else (height, width)
    grid = (high // SQUARE * (wide // SQUARE),)
    if width:
        padded_kernel[grid](
            matrix, to, rows, columns, width, wide // SQUARE, TRANSPOSED=transposed, SQUARE=SQUARE
        )
    return to


def solve(a, b, row_scale, col_scale, out, m, n, k):
    if m == 0 or n == 0:
        return  # out is empty; k = 0 is not special: the loop does not run, and 0 times the scales is stored
    config = tiling(m, n, out.device)
    block_m, block_n, block_k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    tiles_m, tiles_n, width = (
        triton.cdiv(m, block_m),
        triton.cdiv(n, block_n),
        triton.cdiv(k, block_k) * block_k,
    )
    if m % block_m or k % block_k:
        a = padded(a, m, k, tiles_m * block_m, width)
    # Four neighbours along k are one word for a tensor core. Those of b are in four rows, so it is transposed.
    b_columns = padded(b, k, n, tiles_n * block_n, width, transposed=True)
    matmul_kernel[(tiles_m * tiles_n,)](
        a, b_columns, row_scale, col_scale, out, m, n, width, GROUP=GROUP, **config
    )
