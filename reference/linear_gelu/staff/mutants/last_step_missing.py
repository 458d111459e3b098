"""Mistake: takes whole steps along k only."""

import triton
import triton.language as tl


@triton.jit
def gelu(y):
    return 0.5 * y * (1.0 + tl.math.erf(y * 0.7071067811865476))


@triton.jit
def linear(x, w, bias, out, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    in_rows, in_columns = rows[:, None] < m, columns[None, :] < n
    added = tl.load(bias + columns, mask=columns < n, other=0.0).to(tl.float32)[None, :]
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k // BLOCK * BLOCK, BLOCK):
        depth = start + tl.arange(0, BLOCK)
        left = tl.load(x + rows[:, None] * k + depth[None, :], mask=in_rows & (depth[None, :] < k), other=0.0)
        right = tl.load(
            w + depth[:, None] * n + columns[None, :], mask=in_columns & (depth[:, None] < k), other=0.0
        )
        total = tl.dot(left, right, total)
    result = gelu(total + added).to(tl.float16)
    tl.store(out + rows[:, None] * n + columns[None, :], result, mask=in_rows & in_columns)


def solve(x, w, bias, out, m, n, k):
    if m == 0 or n == 0:
        return
    linear[(triton.cdiv(m, 32), triton.cdiv(n, 32))](x, w, bias, out, m, n, k, BLOCK=32)
