"""Matrix multiplication of float8 in Triton: a product of tensor cores for each block of 128 along k, whose sums are
added up with both scales in float32.
"""

import torch
import triton
import triton.language as tl

# Tiles are walked in groups of this many rows of tiles, so that programs that run together share rows of both factors
# in the L2 cache.
GROUP = 8
BLOCK = 128  # numbers along k that share a scale, and rows of b


@triton.jit
def padded_kernel(matrix, to, rows, k, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """`to` has rows of `width` bytes: those of the matrix, then zeros."""
    program = tl.program_id(0).to(tl.int64)
    steps = width // BLOCK
    row = (program // steps * ROWS + tl.arange(0, ROWS))[:, None]
    column = (program % steps * BLOCK + tl.arange(0, BLOCK))[None, :]
    values = tl.load(matrix + row * k + column, mask=(row < rows) & (column < k), other=0)
    tl.store(to + row * width + column, values, mask=row < rows)


@triton.jit
def matmul_kernel(
    a,
    a_scale,
    b,
    b_scale,
    out,
    m,
    n,
    width,
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUP: tl.constexpr,
):
    tile = tl.program_id(0)
    tiles_m, tiles_n, steps = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK), width // BLOCK
    first_m = tile // (GROUP * tiles_n) * GROUP
    group_rows = tl.minimum(tiles_m - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group_rows
    tile_n = tile % (GROUP * tiles_n) // group_rows

    # 64 bits: an element's offset, row * n + column, outgrows 32 bits long before a row number does.
    rows = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, BLOCK)
    # Rows beyond the end read the first ones again, and are not stored: nothing is masked in the loop.
    left_at = a + (rows % m)[:, None] * width + depth[None, :]
    right_at = b + (columns % n)[None, :] * width + depth[:, None]
    of_rows_at = a_scale + (rows % m) * steps
    of_columns_at = b_scale + tile_n.to(tl.int64) * steps

    total = tl.zeros((BLOCK_M, BLOCK), dtype=tl.float32)
    for _ in range(steps):
        sums = tl.dot(tl.load(left_at), tl.load(right_at), out_dtype=tl.float32)
        total += sums * (tl.load(of_rows_at) * tl.load(of_columns_at))[:, None]
        left_at += BLOCK
        right_at += BLOCK
        of_rows_at += 1
        of_columns_at += 1
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(out + rows[:, None] * n + columns[None, :], total.to(tl.bfloat16), mask=inside)


def padded(matrix, rows, k, width):
    """A copy whose rows are whole blocks. Bytes: 0 is zero."""
    to = torch.empty((rows, width), dtype=torch.uint8, device=matrix.device)
    grid = (triton.cdiv(rows, 32) * (width // BLOCK),)
    padded_kernel[grid](matrix.view(torch.uint8), to, rows, k, width, ROWS=32, BLOCK=BLOCK)
    return to.view(matrix.dtype)


def solve(a, a_scale, b, b_scale, out, m, n, k):
    if m == 0 or n == 0:
        return  # out is empty; k = 0 is not special: the loop does not run, and zeros are stored
    width = triton.cdiv(k, BLOCK) * BLOCK
    if k != width:
        a, b = padded(a, m, k, width), padded(b, n, k, width)
    block_m, warps = (128, 8) if m > 64 else (64, 4)
    tiles = triton.cdiv(m, block_m) * triton.cdiv(n, BLOCK)
    matmul_kernel[(tiles,)](
        a,
        a_scale,
        b,
        b_scale,
        out,
        m,
        n,
        width,
        BLOCK_M=block_m,
        BLOCK=BLOCK,
        GROUP=GROUP,
        num_warps=warps,
        num_stages=4,
    )
