# ruff: noqa: N803 - Triton writes its compile-time constants in capitals
"""Half precision matrix product in Triton: tiles of 128 x 256 for Hopper's tensor cores, sums in float32."""

import triton
import triton.language as tl

# Three stages of (128 x 64 + 64 x 256) halves are 144 KiB of shared memory: one block per multiprocessor.
BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
STAGES, WARPS = 3, 8
# Tiles are walked in groups of this many rows of tiles, so that programs that run together share their operands in L2.
GROUP = 8


@triton.jit
def matmul_kernel(
    a,
    b,
    out,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    WHOLE: tl.constexpr,
):
    tile = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    first_m = tile // (GROUP * tiles_n) * GROUP
    group_rows = tl.minimum(tiles_m - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group_rows
    tile_n = tile % (GROUP * tiles_n) // group_rows

    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.arange(0, BLOCK_K)
    # Rows and columns beyond the matrix read some other one that exists: what they give is not stored.
    left_at = a + (rows % m).to(tl.int64)[:, None] * k + steps[None, :]
    right_at = b + steps.to(tl.int64)[:, None] * n + (columns % n)[None, :]

    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        if WHOLE:
            left = tl.load(left_at)
            right = tl.load(right_at)
        else:
            left = tl.load(left_at, mask=start + steps[None, :] < k, other=0.0)
            right = tl.load(right_at, mask=start + steps[:, None] < k, other=0.0)
        total = tl.dot(left, right, total)
        left_at += BLOCK_K
        right_at += BLOCK_K * n
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    at = out + rows.to(tl.int64)[:, None] * n + columns[None, :]
    tl.store(at, total.to(tl.float16), mask=inside)


def solve(a, b, out, m, n, k):
    if m == 0 or n == 0:
        return
    tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    matmul_kernel[(tiles,)](
        a,
        b,
        out,
        m,
        n,
        k,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        GROUP=GROUP,
        WHOLE=k % BLOCK_K == 0,
        num_stages=STAGES,
        num_warps=WARPS,
    )
