"""Top k by rows in Triton: a program reads its rows once and keeps the k best of each as a set, sorted at the end."""

import triton
import triton.language as tl

# Elements that a program holds at once: several short rows, or a piece of a long one. Few, because each element that
# gets into the set costs a look at all of them.
TILE = 512
LOWEST = tl.constexpr(-(2**63))
HIGHEST = tl.constexpr(2**63 - 1)


@triton.jit
def key_of(value, column):
    """Value and column in one number: of two elements the one that comes first has the larger key."""
    bits = (value + 0.0).to(tl.int32, bitcast=True)  # -0.0 + 0.0 is 0.0: the two are a tie
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = tl.where(value != value, 0x7FFFFFFF, order)
    return (order.to(tl.int64) << 32) | (0x7FFFFFFF - column).to(tl.int64)


@triton.jit
def topk_kernel(
    x, values, indices, rows, cols, k, ROWS: tl.constexpr, BLOCK: tl.constexpr, LIST: tl.constexpr
):
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[
        :, None
    ]  # 64 bits: rows * cols may exceed 2^31
    slot = tl.arange(0, LIST)[None, :]
    # k different keys below that of any element, and above all others what never leaves the set.
    best = tl.where(slot < k, LOWEST + slot.to(tl.int64), HIGHEST) + tl.zeros((ROWS, LIST), dtype=tl.int64)
    least = tl.min(best, axis=1)[:, None]
    for start in range(0, cols, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        inside = (row < rows) & (column < cols)
        value = tl.load(x + row * cols + column, mask=inside, other=0.0)
        key = tl.where(inside, key_of(value, column), LOWEST)
        top = tl.max(key, axis=1)[:, None]
        while tl.max((top > least).to(tl.int32)) > 0:
            best = tl.where((best == least) & (top > least), top, best)
            least = tl.min(best, axis=1)[:, None]
            key = tl.where(key == top, LOWEST, key)
            top = tl.max(key, axis=1)[:, None]
    best = tl.sort(tl.where(slot < k, best, LOWEST), descending=True)
    order = (best >> 32).to(tl.int32)
    bits = tl.where(order < 0, order ^ 0x7FFFFFFF, order)
    place, inside = row * k + slot, (row < rows) & (slot < k)
    tl.store(values + place, bits.to(tl.float32, bitcast=True), mask=inside)
    tl.store(indices + place, 0x7FFFFFFF - (best & 0x7FFFFFFF).to(tl.int32), mask=inside)


def solve(x, values, indices, rows, cols, k):
    if rows == 0:
        return  # there is nothing to write
    block = min(triton.next_power_of_2(cols), TILE)
    tile_rows = TILE // block
    # One warp: its lanes compare by shuffles alone.
    topk_kernel[(triton.cdiv(rows, tile_rows),)](
        x,
        values,
        indices,
        rows,
        cols,
        k,
        ROWS=tile_rows,
        BLOCK=block,
        LIST=max(16, triton.next_power_of_2(k)),
        num_warps=1,
    )
