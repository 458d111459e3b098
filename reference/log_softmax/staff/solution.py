"""Log-softmax by rows in Triton: a program has a tile of short rows, one longer row, or one long row in two passes."""

import triton
import triton.language as tl

# Elements of several short rows that a program holds at once.
TILE = 4096
# A row of up to this many elements fits into the registers of one program.
ONE_BLOCK = 16384
LONG_BLOCK = 4096


@triton.jit
def short_rows(x, out, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # 64 bits: rows * cols may exceed 2^31
    column = tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    places = row[:, None] * cols + column[None, :]
    # -inf outside the row: it is no maximum, and its exponential is 0.
    values = tl.load(x + places, mask=inside, other=float("-inf"))
    top = tl.max(values, axis=1)
    # The exponential of NaN, and that of inf - inf, makes the total NaN. With nothing but -inf the total is 0, and
    # the result -inf - -inf: NaN.
    reference = tl.where(top == float("-inf"), 0.0, top)
    total = tl.sum(tl.exp(values - reference[:, None]), axis=1)
    # top + log(total) first would round to the digits of top.
    tl.store(out + places, (values - top[:, None]) - tl.log(total)[:, None], mask=inside)


@triton.jit
def long_rows(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    lane = tl.arange(0, BLOCK)
    # A maximum and a sum for each lane: lanes meet once, after the loop.
    highest = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        column = start + lane
        value = tl.load(x + row + column, mask=column < cols, other=float("-inf"))
        # One of the two exponentials is exp(0) = 1, so one is computed. -inf - -inf is NaN, but -inf adds nothing.
        power = tl.where(value == float("-inf"), 0.0, tl.exp(-tl.abs(value - highest)))
        larger = value > highest
        total = tl.where(larger, total * power + 1.0, total + power)
        highest = tl.where(larger, value, highest)
    top = tl.max(highest, axis=0)
    reference = tl.where(top == float("-inf"), 0.0, top)
    logarithm = tl.log(tl.sum(total * tl.exp(highest - reference), axis=0))
    for start in range(0, cols, BLOCK):
        column = start + lane
        inside = column < cols
        value = tl.load(x + row + column, mask=inside)
        tl.store(out + row + column, (value - top) - logarithm, mask=inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return  # there is nothing to write
    if cols <= ONE_BLOCK:
        block = triton.next_power_of_2(cols)
        tile_rows = max(TILE // block, 1)
        # 16 elements a thread, or 32 of the longest rows: several 16-byte loads are in flight at once.
        warps = min(max(tile_rows * block // 512, 8), 16)
        short_rows[(triton.cdiv(rows, tile_rows),)](
            x, out, rows, cols, ROWS=tile_rows, BLOCK=block, num_warps=warps
        )
    else:
        long_rows[(rows,)](x, out, cols, BLOCK=LONG_BLOCK, num_warps=8)
