"""Merge path in Triton, in two launches: where each tile of the result begins in a and in b, then the tiles.

Within a tile each lane finds in the same way where its own elements begin, and takes one after the other.
"""

import torch
import triton
import triton.language as tl

LANES = 256
# Elements of a lane.
OWN = 8
TILES = 256


@triton.jit
def split(a, b, low, high, count, steps):
    """How many of the first `count` elements of the result come from a, if those of a come before equal ones of b."""
    for _ in range(steps):
        middle = low + (high - low) // 2
        searching = low < high
        of_a = tl.load(a + middle, mask=searching, other=0)
        of_b = tl.load(b + (count - 1 - middle), mask=searching, other=0)
        before = of_a <= of_b
        low = tl.where(searching & before, middle + 1, low)
        high = tl.where(searching & (of_a > of_b), middle, high)
    return low


@triton.jit
def find_tiles(a, b, splits, n, m, tiles, steps, TILE: tl.constexpr, TILES: tl.constexpr):
    tile = tl.program_id(0) * TILES + tl.arange(0, TILES)
    # 64 bits: what the last tile would hold may exceed 2^31.
    count = tl.minimum(tile.to(tl.int64) * TILE, n + m).to(tl.int32)
    low, high = tl.maximum(count - m, 0), tl.minimum(count, n)
    tl.store(splits + tile, split(a, b, low, high, count, steps), mask=tile <= tiles)


@triton.jit
def merge_tiles(a, b, splits, out, n, m, STEPS: tl.constexpr, LANES: tl.constexpr, OWN: tl.constexpr):
    tile = tl.program_id(0)
    begin_a, end_a = tl.load(splits + tile), tl.load(splits + tile + 1)
    first = tile.to(tl.int64) * (LANES * OWN)
    end = tl.minimum(first + LANES * OWN, n + m)
    begin_b, end_b = (first - begin_a).to(tl.int32), (end - end_a).to(tl.int32)
    # Places from the beginning of the tile on.
    length, of_a, of_b = (end - first).to(tl.int32), end_a - begin_a, end_b - begin_b
    a += begin_a
    b += begin_b
    count = tl.minimum(tl.arange(0, LANES) * OWN, length)
    i = split(a, b, tl.maximum(count - of_b, 0), tl.minimum(count, of_a), count, STEPS)
    j = count - i
    column = tl.arange(0, OWN)[None, :]
    results = tl.zeros((LANES, OWN), dtype=tl.int32)
    next_a = tl.load(a + i, mask=i < of_a, other=0)
    next_b = tl.load(b + j, mask=j < of_b, other=0)
    for k in tl.static_range(OWN):
        take_a = (i < of_a) & ((j >= of_b) | (next_a <= next_b))
        results = tl.where(column == k, tl.where(take_a, next_a, next_b)[:, None], results)
        i += take_a.to(tl.int32)
        j += 1 - take_a.to(tl.int32)
        place = tl.where(take_a, i, j)
        found = tl.load(tl.where(take_a, a, b) + place, mask=place < tl.where(take_a, of_a, of_b), other=0)
        next_a = tl.where(take_a, found, next_a)
        next_b = tl.where(take_a, next_b, found)
    place = tl.arange(0, LANES)[:, None] * OWN + column
    tl.store(out + first + place, results, mask=place < length)


def solve(a, b, out, n, m):
    if n + m == 0:
        return  # there is nothing to launch
    tile = LANES * OWN
    tiles = triton.cdiv(n + m, tile)
    splits = torch.empty(tiles + 1, dtype=out.dtype, device=out.device)
    # A search among k + 1 places takes as many steps as k has binary digits.
    steps = min(n, m).bit_length()
    find_tiles[(tiles // TILES + 1,)](a, b, splits, n, m, tiles, steps, TILE=tile, TILES=TILES)
    merge_tiles[(tiles,)](a, b, splits, out, n, m, STEPS=tile.bit_length(), LANES=LANES, OWN=OWN, num_warps=8)
