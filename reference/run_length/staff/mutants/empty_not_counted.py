"""Mistake: returns early when there is nothing to look at, but count still has to be set to 0."""

import torch
import triton
import triton.language as tl

TILE = 1024
COUNTS = 256


@triton.jit
def count_tiles(x, counts, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    here = tl.load(x + offsets, mask=offsets < n, other=0)
    before = tl.load(x + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0)
    heads = ((offsets == 0) | (here != before)) & (offsets < n)
    tl.store(counts + tile, tl.sum(heads.to(tl.int64), axis=0))


@triton.jit
def scan_counts(counts, begins, count, tiles, COUNTS: tl.constexpr):
    carry = tl.zeros((), dtype=tl.int64)
    for start in range(0, tiles, COUNTS):
        tile = start + tl.arange(0, COUNTS)
        heads = tl.load(counts + tile, mask=tile < tiles, other=0)
        tl.store(begins + tile, carry + tl.cumsum(heads, axis=0) - heads, mask=tile < tiles)
        carry += tl.sum(heads, axis=0)
    tl.store(count, carry)


@triton.jit
def write_heads(x, begins, values, places, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    here = tl.load(x + offsets, mask=offsets < n, other=0)
    before = tl.load(x + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0)
    heads = ((offsets == 0) | (here != before)) & (offsets < n)
    number = tl.load(begins + tile) + tl.cumsum(heads.to(tl.int32), axis=0) - 1
    tl.store(values + number, here, mask=heads)
    tl.store(places + number, offsets.to(tl.int32), mask=heads)


@triton.jit
def subtract(places, lengths, count, n, TILE: tl.constexpr):
    run = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    runs = tl.load(count)
    begin = tl.load(places + run, mask=run < runs, other=0)
    end = tl.load(places + run + 1, mask=run + 1 < runs, other=0)
    end = tl.where(run + 1 == runs, n, end)
    tl.store(lengths + run, (end - begin).to(tl.int32), mask=run < runs)


def solve(x, values, lengths, count, n):
    if n == 0:
        return
    tiles = triton.cdiv(n, TILE)
    counts = torch.empty(tiles, dtype=count.dtype, device=x.device)
    begins = torch.empty(tiles, dtype=count.dtype, device=x.device)
    places = torch.empty(n, dtype=lengths.dtype, device=x.device)
    if tiles > 0:
        count_tiles[(tiles,)](x, counts, n, TILE=TILE)
    scan_counts[(1,)](counts, begins, count, tiles, COUNTS=COUNTS)
    if tiles > 0:
        write_heads[(tiles,)](x, begins, values, places, n, TILE=TILE)
        subtract[(tiles,)](places, lengths, count, n, TILE=TILE)
