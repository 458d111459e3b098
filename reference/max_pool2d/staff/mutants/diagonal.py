"""Mistake: takes the maximum along the diagonal of each window."""

import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def pool_kernel(x, out, width, columns, count, k, s, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    row, column = place // columns, place % columns
    corner = x + row * s * width + column * s
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for i in range(k):
        for j in range(k):
            value = tl.load(corner + i * width + i, mask=inside, other=float("-inf"))
            best = tl.maximum(best, value, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out + place, best, mask=inside)


def solve(x, out, h, width, k, s):
    if h < k or width < k:
        return
    rows, columns = (h - k) // s + 1, (width - k) // s + 1
    grid = (triton.cdiv(rows * columns, BLOCK),)
    pool_kernel[grid](x, out, width, columns, rows * columns, k, s, BLOCK=BLOCK)
