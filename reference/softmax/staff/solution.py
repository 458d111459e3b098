"""Softmax by rows in Triton: short rows in one block, long rows in two passes with a running maximum."""

import triton
import triton.language as tl

# A row of up to this many elements fits into the registers of one program.
ONE_BLOCK = 8192
LONG_BLOCK = 8192


@triton.jit
def short_rows(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols  # 64 bits: rows * cols may exceed 2^31
    column = tl.arange(0, BLOCK)
    inside = column < cols
    # -inf beyond the row: exp gives 0 there, and it never is the maximum.
    values = tl.load(x + row + column, mask=inside, other=float("-inf"))
    # A row of nothing but -inf becomes exp(-inf - -inf) = NaN, and so does one with +inf: as in PyTorch.
    powers = tl.exp(values - tl.max(values, axis=0))
    # Lanes beyond the row must not add NaN to a sum; they add nothing at all.
    powers = tl.where(inside, powers, 0.0)
    tl.store(out + row + column, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def long_rows(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    # One pass finds maximum and sum: whenever the maximum grows, the sum so far is scaled down to it.
    highest = tl.full((), float("-inf"), dtype=tl.float32)
    total = tl.zeros((), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        values = tl.load(x + row + start + column, mask=start + column < cols, other=float("-inf"))
        higher = tl.maximum(highest, tl.max(values, axis=0))
        # Nothing but -inf so far: take 0 as reference, as -inf - -inf would be NaN for good.
        reference = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(highest - reference) + tl.sum(tl.exp(values - reference), axis=0)
        highest = higher
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        values = tl.load(x + row + start + column, mask=inside)
        tl.store(out + row + start + column, tl.exp(values - highest) / total, mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return  # there is nothing to write
    if cols <= ONE_BLOCK:
        block = triton.next_power_of_2(cols)
        short_rows[(rows,)](x, out, cols, BLOCK=block, num_warps=min(max(block // 512, 1), 16))
    else:
        long_rows[(rows,)](x, out, cols, BLOCK=LONG_BLOCK, num_warps=4)
