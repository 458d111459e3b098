"""Run-length encoding in Triton, in four launches: heads per tile, scan of their numbers, each tile writes its heads,
then the distances between neighbouring heads are the lengths.

A head is an element that differs from the one before. Programs of one launch don't wait for each other, so x is read
twice. The CUDA solution shows how to do it in one pass.
"""

import torch
import triton
import triton.language as tl

TILE = 4096
# Numbers of tiles that the one program of the second launch takes at a time.
COUNTS = 4096


@triton.jit
def heads_of(x, offsets, n):
    """The elements, and which of them begin a run."""
    # Lanes beyond the array are equal to what is ahead of them: no heads.
    here = tl.load(x + offsets, mask=offsets < n, other=0)
    before = tl.load(x + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0)
    return here, ((offsets == 0) | (here != before)) & (offsets < n)


@triton.jit
def count_tiles(x, counts, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)  # 64 bits: the last tile may reach beyond 2^31
    _, heads = heads_of(x, tile * TILE + tl.arange(0, TILE), n)
    tl.store(counts + tile, tl.sum(heads.to(tl.int64), axis=0))


@triton.jit
def scan_counts(counts, begins, count, tiles, COUNTS: tl.constexpr):
    """begins[t] = heads ahead of tile t, count[0] = all of them. One program, which walks with a carry."""
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
    here, heads = heads_of(x, offsets, n)
    number = tl.load(begins + tile) + tl.cumsum(heads.to(tl.int32), axis=0) - 1
    tl.store(values + number, here, mask=heads)
    tl.store(places + number, offsets.to(tl.int32), mask=heads)


@triton.jit
def subtract(places, lengths, count, n, TILE: tl.constexpr):
    run = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    runs = tl.load(count)
    # The last run ends where the array does.
    begin = tl.load(places + run, mask=run < runs, other=0)
    end = tl.load(places + run + 1, mask=run + 1 < runs, other=0)
    end = tl.where(run + 1 == runs, n, end)
    tl.store(lengths + run, (end - begin).to(tl.int32), mask=run < runs)


def solve(x, values, lengths, count, n):
    tiles = triton.cdiv(n, TILE)
    counts = torch.empty(tiles, dtype=count.dtype, device=x.device)
    begins = torch.empty(tiles, dtype=count.dtype, device=x.device)
    if tiles > 0:
        count_tiles[(tiles,)](x, counts, n, TILE=TILE, num_warps=8)
    # Even without a tile there is a count to write: 0.
    scan_counts[(1,)](counts, begins, count, tiles, COUNTS=COUNTS, num_warps=8)
    if tiles > 0:
        # The number of runs is on the GPU, so there is a place, and below a program, for as many as there may be. The
        # programs behind the last run do nothing.
        places = torch.empty(n, dtype=lengths.dtype, device=x.device)
        write_heads[(tiles,)](x, begins, values, places, n, TILE=TILE, num_warps=8)
        subtract[(tiles,)](places, lengths, count, n, TILE=TILE, num_warps=8)
