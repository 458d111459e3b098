"""Mistake: counts what is kept in 16 bits, and begins again at 65,536."""

import torch
import triton
import triton.language as tl

TILE = 4096
# Counts of tiles that the one program of the second launch takes at a time.
COUNTS = 4096


@triton.jit
def count_tiles(x, counts, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)  # 64 bits: n may exceed 2^31
    offsets = tile * TILE + tl.arange(0, TILE)
    # Lanes beyond the array hold 0, which is not kept; NaN > 0 is false.
    keeps = tl.load(x + offsets, mask=offsets < n, other=0.0) > 0
    tl.store(counts + tile, tl.sum(keeps.to(tl.int64), axis=0))


@triton.jit
def scan_counts(counts, begins, count, tiles, COUNTS: tl.constexpr):
    """begins[t] = elements kept ahead of tile t, count[0] = all of them. One program, which walks with a carry."""
    carry = tl.zeros((), dtype=tl.uint16)
    for start in range(0, tiles, COUNTS):
        tile = start + tl.arange(0, COUNTS)
        keeps = tl.load(counts + tile, mask=tile < tiles, other=0)
        # Whole numbers: the sum ahead is the sum up to here less one's own, exactly.
        tl.store(begins + tile, carry.to(tl.int64) + tl.cumsum(keeps, axis=0) - keeps, mask=tile < tiles)
        carry = (carry + tl.sum(keeps, axis=0)).to(tl.uint16)
    tl.store(count, carry.to(tl.int64))


@triton.jit
def move(x, begins, out, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    keeps = (values > 0).to(tl.int32)
    place = tl.load(begins + tile) + (tl.cumsum(keeps, axis=0) - keeps)
    tl.store(out + place, values, mask=values > 0)


def solve(x, out, count, n):
    tiles = triton.cdiv(n, TILE)
    counts = torch.empty(tiles, dtype=count.dtype, device=x.device)
    begins = torch.empty(tiles, dtype=count.dtype, device=x.device)
    if tiles > 0:
        count_tiles[(tiles,)](x, counts, n, TILE=TILE, num_warps=8)
    # Even without a tile there is a count to write: 0.
    scan_counts[(1,)](counts, begins, count, tiles, COUNTS=COUNTS, num_warps=8)
    if tiles > 0:
        move[(tiles,)](x, begins, out, n, TILE=TILE, num_warps=8)
