"""Mistake: begins with -inf at place -1 and waits for something larger, which a row of -inf does not hold."""

import triton
import triton.language as tl


@triton.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    place = tl.full((BLOCK,), -1, dtype=tl.int32)
    for start in range(0, cols, BLOCK):
        values = tl.load(x + row * cols + start + lane, mask=start + lane < cols, other=float("-inf"))
        better = ((values > best) | (values != values)) & (best == best)
        best = tl.where(better, values, best)
        place = tl.where(better, start + lane, place)
    is_nan = best != best
    top = tl.max(tl.where(is_nan, float("-inf"), best), axis=0)
    wins = tl.where(tl.max(is_nan.to(tl.int32), axis=0) > 0, is_nan, best == top)
    tl.store(out + row, tl.min(tl.where(wins, place, 0x7FFFFFFF), axis=0).to(tl.int64))


@triton.jit
def fill(out):
    tl.store(out + tl.program_id(0), -1)


def solve(x, out, rows, cols):
    if rows == 0:
        return
    if cols == 0:
        fill[(rows,)](out)
        return
    argmax[(rows,)](x, out, cols, BLOCK=1024)
