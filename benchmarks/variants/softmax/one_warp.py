"""A whole row in the registers of one warp, as long as it fits there; of a longer one, a part at a time."""

import triton
import triton.language as tl

MOST = 4096


@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    column = tl.arange(0, BLOCK)
    inside = column < cols
    values = tl.load(x + row + column, mask=inside, other=float("-inf"))
    powers = tl.where(inside, tl.exp(values - tl.max(values, axis=0)), 0.0)
    tl.store(out + row + column, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def softmax_in_parts(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    highest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for first in range(0, cols, BLOCK):
        column = first + tl.arange(0, BLOCK)
        values = tl.load(x + row + column, mask=column < cols, other=float("-inf"))
        highest = tl.maximum(highest, values, propagate_nan=tl.PropagateNan.ALL)
    most = tl.max(highest, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        column = first + tl.arange(0, BLOCK)
        values = tl.load(x + row + column, mask=column < cols, other=0.0)
        total += tl.where(column < cols, tl.exp(values - most), 0.0)
    total_of_row = tl.sum(total, axis=0)
    for first in range(0, cols, BLOCK):
        column = first + tl.arange(0, BLOCK)
        values = tl.load(x + row + column, mask=column < cols, other=0.0)
        tl.store(out + row + column, tl.exp(values - most) / total_of_row, mask=column < cols)


def solve(x, out, rows, cols):
    if rows and cols:
        if cols <= MOST:
            softmax[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols), num_warps=1)
        else:
            softmax_in_parts[(rows,)](x, out, cols, BLOCK=MOST, num_warps=1)
