"""Mistake: cuts results off at 65504, the largest float16, where they are infinite."""

import triton
import triton.language as tl


@triton.jit
def multiply_kernel(x, w, offsets, out, k, n, BLOCK: tl.constexpr):
    expert = tl.program_id(1).to(tl.int64)
    row0 = tl.load(offsets + expert) + tl.program_id(0) * BLOCK
    end = tl.load(offsets + expert + 1)
    if row0 >= end:
        return
    rows = row0 + tl.arange(0, BLOCK)
    columns = tl.program_id(2).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, BLOCK):
        depth = start + tl.arange(0, BLOCK)
        left = tl.load(
            x + rows[:, None] * k + depth[None, :],
            mask=(rows[:, None] < end) & (depth[None, :] < k),
            other=0.0,
        )
        right = tl.load(
            w + (expert * k + depth[:, None]) * n + columns[None, :],
            mask=(depth[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    tl.store(
        out + rows[:, None] * n + columns[None, :],
        tl.where(total != total, total, tl.minimum(tl.maximum(total, -65504.0), 65504.0)).to(tl.float16),
        mask=(rows[:, None] < end) & (columns[None, :] < n),
    )


def solve(x, w, offsets, out, tokens, experts, k, n):
    if tokens and n:
        grid = (triton.cdiv(tokens, 32), experts, triton.cdiv(n, 32))
        multiply_kernel[grid](x, w, offsets, out, k, n, BLOCK=32)
