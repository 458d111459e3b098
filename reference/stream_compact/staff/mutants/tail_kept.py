"""Mistake: loads without a mask for the last block, and keeps what lies behind the array."""

import torch
import triton
import triton.language as tl


@triton.jit
def count_tiles(x, counts, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    keeps = tl.load(x + offsets, mask=offsets < n, other=1.0) > 0
    tl.store(counts + tile, tl.sum(keeps.to(tl.int64), axis=0))


@triton.jit
def scan_counts(counts, begins, count, tiles, COUNTS: tl.constexpr):
    carry = tl.zeros((), dtype=tl.int64)
    for start in range(0, tiles, COUNTS):
        tile = start + tl.arange(0, COUNTS)
        keeps = tl.load(counts + tile, mask=tile < tiles, other=0)
        tl.store(begins + tile, carry + tl.cumsum(keeps, axis=0) - keeps, mask=tile < tiles)
        carry += tl.sum(keeps, axis=0)
    tl.store(count, carry)


@triton.jit
def move(x, begins, out, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    values = tl.load(x + offsets, mask=offsets < n, other=1.0)
    keeps = (values > 0).to(tl.int32)
    place = tl.load(begins + tile) + (tl.cumsum(keeps, axis=0) - keeps)
    tl.store(out + place, values, mask=(values > 0) & (place < n))


def solve(x, out, count, n):
    tiles = triton.cdiv(n, 1024)
    counts = torch.empty(tiles, dtype=count.dtype, device=x.device)
    begins = torch.empty(tiles, dtype=count.dtype, device=x.device)
    if tiles > 0:
        count_tiles[(tiles,)](x, counts, n, TILE=1024)
    scan_counts[(1,)](counts, begins, count, tiles, COUNTS=256)
    if tiles > 0:
        move[(tiles,)](x, begins, out, n, TILE=1024)
