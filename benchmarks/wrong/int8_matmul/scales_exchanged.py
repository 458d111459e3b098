# Mistake: row_scale and col_scale are passed in the other order.
# Says: row_scale ; col_scale|past the end|exchang|swap
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a, b, row_scale, col_scale, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    across = tl.cdiv(n, N)
    row = (tl.program_id(0) // across).to(tl.int64) * M + tl.arange(0, M)
    column = (tl.program_id(0) % across).to(tl.int64) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.int32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        left = tl.load(
            a + row[:, None] * k + depth[None, :], mask=(row[:, None] < m) & (depth[None, :] < k), other=0
        )
        right = tl.load(
            b + depth[:, None] * n + column[None, :],
            mask=(depth[:, None] < k) & (column[None, :] < n),
            other=0,
        )
        total = tl.dot(left, right, total, out_dtype=tl.int32)
    of_row = tl.load(row_scale + row, mask=row < m, other=0.0)
    of_column = tl.load(col_scale + column, mask=column < n, other=0.0)
    scaled = total.to(tl.float32) * of_row[:, None] * of_column[None, :]
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], scaled, mask=inside)


def solve(a, b, row_scale, col_scale, out, m, n, k):
    if m == 0 or n == 0:
        return
    tiles = triton.cdiv(m, 32) * triton.cdiv(n, 32)
    matmul_kernel[(tiles,)](a, b, col_scale, row_scale, out, m, n, k, M=32, N=32, K=64)
