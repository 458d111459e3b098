"""Cross entropy in Triton: a program has a tile of short rows, or one long row with a running maximum per lane."""

import triton
import triton.language as tl

# Elements that a program holds at once: several short rows, or a piece of a long one.
TILE = 4096


@triton.jit
def finish(labels, logits, out, row, inside, cols, top, total):
    label = tl.load(labels + row, mask=inside, other=-100)
    counted = inside & (label != -100)
    at_label = tl.load(logits + row * cols + label, mask=counted, other=0.0)
    # No quotient of exponentials: it is 0 in float32 if the label is unlikely. A row of nothing but -inf is
    # -inf - -inf: NaN.
    loss = (top - at_label) + tl.log(total)
    tl.store(out + row, tl.where(counted, loss, 0.0), mask=inside)


@triton.jit
def short_rows(logits, labels, out, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # 64 bits: rows * cols may exceed 2^31
    column = tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    # -inf outside the row: it is no maximum, and its exponential is 0.
    values = tl.load(logits + row[:, None] * cols + column[None, :], mask=inside, other=float("-inf"))
    top = tl.max(values, axis=1)
    # The exponential of NaN, and that of inf - inf, makes the total NaN. With nothing but -inf the total is 0.
    reference = tl.where(top == float("-inf"), 0.0, top)
    total = tl.sum(tl.exp(values - reference[:, None]), axis=1)
    finish(labels, logits, out, row, row < rows, cols, top, total)


@triton.jit
def long_rows(logits, labels, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) + tl.arange(0, 1)
    begin = tl.program_id(0).to(tl.int64) * cols
    lane = tl.arange(0, BLOCK)
    # A maximum and a sum for each lane: lanes meet once, after the loop.
    highest = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        column = start + lane
        value = tl.load(logits + begin + column, mask=column < cols, other=float("-inf"))
        # One of the two exponentials is exp(0) = 1, so one is computed. -inf - -inf is NaN, but -inf adds nothing.
        power = tl.where(value == float("-inf"), 0.0, tl.exp(-tl.abs(value - highest)))
        larger = value > highest
        total = tl.where(larger, total * power + 1.0, total + power)
        highest = tl.where(larger, value, highest)
    top = tl.max(highest, axis=0)
    reference = tl.where(top == float("-inf"), 0.0, top)
    all_of_row = tl.sum(total * tl.exp(highest - reference), axis=0)
    finish(labels, logits, out, row, row >= 0, cols, top, all_of_row)


def solve(logits, labels, out, rows, cols):
    if rows == 0:
        return  # there is nothing to write; rows without columns have results
    if cols <= TILE:
        block = triton.next_power_of_2(max(cols, 1))
        tile_rows = TILE // block
        short_rows[(triton.cdiv(rows, tile_rows),)](
            logits, labels, out, rows, cols, ROWS=tile_rows, BLOCK=block, num_warps=8
        )
    else:
        long_rows[(rows,)](logits, labels, out, cols, BLOCK=TILE, num_warps=8)
