"""Mistake: a running maximum, but the sum so far is not scaled down when the maximum grows."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    highest = tl.full((), float("-inf"), dtype=tl.float32)
    total = tl.zeros((), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        values = tl.load(x + row + start + column, mask=start + column < cols, other=float("-inf"))
        highest = tl.maximum(highest, tl.max(values, axis=0))
        total += tl.sum(tl.exp(values - highest), axis=0)
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        values = tl.load(x + row + start + column, mask=inside)
        tl.store(out + row + start + column, tl.exp(values - highest) / total, mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    softmax_kernel[(rows,)](x, out, cols, BLOCK=512)
