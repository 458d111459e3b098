"""Mistake: a scale is taken for a number, not for an exponent."""

import triton
import triton.language as tl


@triton.jit
def power(scale):
    value = scale.to(tl.float32) / 127.0
    return tl.where(scale == 255, float("nan"), value)


@triton.jit
def multiply(a, b, a_scale, b_scale, out, m, n, blocks, TILE: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE)
    within = tl.arange(0, BLOCK)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for block in range(blocks):
        in_a, in_b = rows * blocks + block, columns * blocks + block
        left = tl.load(a + in_a[:, None] * BLOCK + within[None, :], mask=(rows < m)[:, None], other=0.0)
        right = tl.load(b + in_b[None, :] * BLOCK + within[:, None], mask=(columns < n)[None, :], other=0.0)
        scales = power(tl.load(a_scale + in_a, mask=rows < m, other=127))[:, None]
        scales = scales * power(tl.load(b_scale + in_b, mask=columns < n, other=127))[None, :]
        total += tl.dot(left.to(tl.float16), right.to(tl.float16), out_dtype=tl.float32) * scales
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(out + rows[:, None] * n + columns[None, :], total.to(tl.bfloat16), mask=inside)


def solve(a, b, a_scale, b_scale, out, m, blocks, n):
    if m and n:
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 16))
        multiply[grid](a, b, a_scale, b_scale, out, m, n, blocks, TILE=16, BLOCK=32)
