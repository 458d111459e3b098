"""Mistake: adds up in float16: each product is rounded, and sums beyond 65504 on the way are infinite for good."""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, out, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float16)
    for start in range(0, k, BLOCK):
        depth = start + tl.arange(0, BLOCK)
        left = tl.load(
            a + rows[:, None] * k + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0
        )
        right = tl.load(
            b + depth[:, None] * n + columns[None, :],
            mask=(depth[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        for step in range(0, BLOCK):
            # One step along k at a time: the interpreter's dot would add up in float32 within a block.
            one = tl.arange(0, BLOCK) == step
            mine = tl.sum(tl.where(one[None, :], left, 0.0), axis=1)
            theirs = tl.sum(tl.where(one[:, None], right, 0.0), axis=0)
            total += mine.to(tl.float16)[:, None] * theirs.to(tl.float16)[None, :]
    tl.store(
        out + rows[:, None] * n + columns[None, :],
        total.to(tl.float16),
        mask=(rows[:, None] < m) & (columns[None, :] < n),
    )


def solve(a, b, out, m, n, k):
    if m == 0 or n == 0:
        return
    matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, BLOCK=32)
