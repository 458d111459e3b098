"""Mistake: takes the maximum of the first 1024 columns for that of the row: what is far larger behind them overflows."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    c = tl.arange(0, BLOCK)
    top = tl.max(tl.load(x + row + c, mask=c < cols, other=float("-inf")), axis=0)
    top = tl.where(top == float("-inf"), 0.0, top)
    s = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, cols, BLOCK):
        v = tl.load(x + row + i + c, mask=i + c < cols, other=float("-inf"))
        s += tl.exp(v - top)
    total = tl.sum(s, axis=0)
    for i in range(0, cols, BLOCK):
        v = tl.load(x + row + i + c, mask=i + c < cols, other=float("-inf"))
        tl.store(out + row + i + c, tl.exp(v - top) / total, mask=i + c < cols)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    softmax_kernel[(rows,)](x, out, cols, BLOCK=1024)
