"""Tiles of 32 x 32 along 32 values of k."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    across = tl.cdiv(n, N)
    row = (tl.program_id(0) // across).to(tl.int64) * M + tl.arange(0, M)
    column = (tl.program_id(0) % across).to(tl.int64) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        left = tl.load(
            a + row[:, None] * k + depth[None, :], mask=(row[:, None] < m) & (depth[None, :] < k), other=0.0
        )
        right = tl.load(
            b + depth[:, None] * n + column[None, :],
            mask=(depth[:, None] < k) & (column[None, :] < n),
            other=0.0,
        )
        total = tl.dot(left, right, total, input_precision="ieee")
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], total, mask=inside)


def solve(a, b, out, m, n, k):
    if m and n:
        tiles = triton.cdiv(m, 32) * triton.cdiv(n, 32)
        matmul[(tiles,)](a, b, out, m, n, k, M=32, N=32, K=32, num_warps=4)
