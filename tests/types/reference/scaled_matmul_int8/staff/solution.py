"""One program for each tile of the result: sums in int32, then the scales in float32."""

import triton
import triton.language as tl


@triton.jit
def multiply(a, b, a_scale, b_scale, out, m, n, k, TILE: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.int32)
    for start in range(0, k, BLOCK):
        along = start + tl.arange(0, BLOCK)
        left = tl.load(
            a + rows[:, None] * k + along[None, :], mask=(rows < m)[:, None] & (along < k)[None, :], other=0
        )
        right = tl.load(
            b + along[:, None] * n + columns[None, :],
            mask=(along < k)[:, None] & (columns < n)[None, :],
            other=0,
        )
        total += tl.dot(left, right, out_dtype=tl.int32)
    scaled = total.to(tl.float32) * tl.load(a_scale + rows, mask=rows < m, other=0.0)[:, None]
    scaled = scaled * tl.load(b_scale + columns, mask=columns < n, other=0.0)[None, :]
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(out + rows[:, None] * n + columns[None, :], scaled.to(tl.float16), mask=inside)


def solve(a, b, a_scale, b_scale, out, m, k, n):
    if m and n:
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 16))
        multiply[grid](a, b, a_scale, b_scale, out, m, n, k, TILE=16, BLOCK=32)
