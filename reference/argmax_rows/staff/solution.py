"""Argmax by rows in Triton: every lane keeps the best of its columns, then the lanes of a row choose among them."""

import torch
import triton
import triton.language as tl

# Elements that a program holds at once: several short rows, or a piece of a long one.
TILE = 4096
# A GPU runs some thousand programs at once. Fewer rows than that are divided into parts, none shorter than this.
ENOUGH_PROGRAMS = 4096
LEAST_PART = 16384


@triton.jit
def beats(value, best):
    # Larger, or NaN where there was none; an equal value does not beat.
    return ((value > best) | (value != value)) & (best == best)


@triton.jit
def first_of_best(best, place):
    """For each row of the tile, the value and the place of its best lane: of equal ones the smallest place."""
    is_nan = best != best
    any_nan = tl.max(is_nan.to(tl.int32), axis=1)
    # tl.max says nothing of what it does with NaN, so none gets there.
    top = tl.max(tl.where(is_nan, float("-inf"), best), axis=1)
    wins = tl.where(any_nan[:, None] > 0, is_nan, best == top[:, None])
    first = tl.min(tl.where(wins, place, 0x7FFFFFFFFFFFFFFF), axis=1)
    return tl.where(any_nan > 0, float("nan"), top), first


@triton.jit
def best_of_parts(x, values, places, rows, cols, part_cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """values[row, part], places[row, part] = the best of each part of each row; part_cols = cols: one part."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # 64 bits: rows * cols may exceed 2^31
    part = tl.program_id(1).to(tl.int64)
    begin = part * part_cols
    end = tl.minimum(begin + part_cols, cols)
    # -inf at place 0 is no lie that could win: either the maximum is larger, or every element is -inf, and the
    # first one stands at place 0.
    best = tl.full((ROWS, BLOCK), float("-inf"), dtype=tl.float32)
    place = tl.zeros((ROWS, BLOCK), dtype=tl.int64)
    for start in range(begin, end, BLOCK):
        column = start + tl.arange(0, BLOCK).to(tl.int64)
        inside = (row[:, None] < rows) & (column[None, :] < end)
        value = tl.load(x + row[:, None] * cols + column[None, :], mask=inside, other=float("-inf"))
        better = beats(value, best)
        best = tl.where(better, value, best)
        place = tl.where(better, column[None, :], place)
    value, first = first_of_best(best, place)
    at = row * tl.num_programs(1) + part
    tl.store(values + at, value, mask=row < rows)
    tl.store(places + at, first, mask=row < rows)


@triton.jit
def among_parts(values, places, out, parts, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    part = tl.arange(0, BLOCK)[None, :]
    value = tl.load(values + row * parts + part, mask=part < parts, other=float("-inf"))
    place = tl.load(places + row * parts + part, mask=part < parts, other=0)
    _, first = first_of_best(value, place)
    tl.store(out + row + tl.arange(0, 1), first)


def solve(x, out, rows, cols):
    if rows == 0:
        return  # there is nothing to write
    block = min(triton.next_power_of_2(cols), TILE)
    tile_rows = TILE // block
    programs = triton.cdiv(rows, tile_rows)
    parts = max(1, min(ENOUGH_PROGRAMS // programs, cols // LEAST_PART))
    # Rounded up, so that the parts cover the row; then no more parts than it takes, so that none is empty.
    part_cols = triton.cdiv(cols, parts)
    parts = triton.cdiv(cols, part_cols)
    values = torch.empty((rows, parts), dtype=x.dtype, device=x.device)
    # With one part its place is the answer.
    places = out if parts == 1 else torch.empty((rows, parts), dtype=out.dtype, device=x.device)
    best_of_parts[(programs, parts)](
        x, values, places, rows, cols, part_cols, ROWS=tile_rows, BLOCK=block, num_warps=8
    )
    if parts > 1:
        among_parts[(rows,)](values, places, out, parts, BLOCK=triton.next_power_of_2(parts))
