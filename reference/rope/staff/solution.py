"""Rotary embedding in Triton: a program has a tile of positions and pairs, and turns it in several heads."""

import triton
import triton.language as tl

# Pairs of a tile. Cosines and sines of a tile stay in registers for all heads of a program.
PAIRS = 1024
WIDEST = 512
HEADS = 4


@triton.jit
def rope_kernel(
    x,
    cosines,
    sines,
    out,
    heads,
    seq,
    half,
    row_tiles,
    column_tiles,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    HEADS: tl.constexpr,
):
    tile = tl.program_id(0) % (row_tiles * column_tiles)
    head = (tl.program_id(0) // (row_tiles * column_tiles)).to(tl.int64) * HEADS
    row = (tile // column_tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    column = (tile % column_tiles) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (row < seq) & (column < half)
    cosine = tl.load(cosines + row * half + column, mask=inside)
    sine = tl.load(sines + row * half + column, mask=inside)
    place = row * (2 * half) + column
    for i in tl.static_range(HEADS):
        # 64 bits: heads * seq * dim may exceed 2^31.
        start = (head + i) * seq * (2 * half)
        there = (row < tl.where(head + i < heads, seq, 0)) & (column < half)
        first = tl.load(x + start + place, mask=there)
        second = tl.load(x + start + place + half, mask=there)
        tl.store(out + start + place, first * cosine - second * sine, mask=there)
        tl.store(out + start + place + half, second * cosine + first * sine, mask=there)


def solve(x, cos, sin, out, heads, seq, dim):
    if heads == 0 or seq == 0 or dim == 0:
        return  # there is nothing to write
    half = dim // 2
    columns = min(triton.next_power_of_2(half), WIDEST)
    rows = PAIRS // columns
    row_tiles, column_tiles = triton.cdiv(seq, rows), triton.cdiv(half, columns)
    rope_kernel[(row_tiles * column_tiles * triton.cdiv(heads, HEADS),)](
        x, cos, sin, out, heads, seq, half, row_tiles, column_tiles, ROWS=rows, COLUMNS=columns, HEADS=HEADS
    )
