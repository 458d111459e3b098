"""Mistake: scans the sums of blocks in pieces without a carry from one piece to the next."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_tiles(x, sums, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    tl.store(sums + tile, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))


@triton.jit
def scan_sums(sums, ahead, tiles, SUMS: tl.constexpr):
    carry = tl.zeros((), dtype=tl.float32)
    for start in range(0, tiles, SUMS):
        tile = start + tl.arange(0, SUMS)
        before = tl.load(sums + tile - 1, mask=(tile > 0) & (tile < tiles), other=0.0)
        tl.store(ahead + tile, carry + tl.cumsum(before, axis=0), mask=tile < tiles)


@triton.jit
def scan_tiles(x, ahead, out, n, TILE: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    offsets = tile * TILE + tl.arange(0, TILE)
    inside = offsets < n
    values = tl.load(x + offsets, mask=inside, other=0.0)
    tl.store(out + offsets, tl.load(ahead + tile) + tl.cumsum(values, axis=0), mask=inside)


def solve(x, out, n):
    if n == 0:
        return
    tiles = triton.cdiv(n, 1024)
    sums = torch.empty(tiles, dtype=x.dtype, device=x.device)
    ahead = torch.empty(tiles, dtype=x.dtype, device=x.device)
    sum_tiles[(tiles,)](x, sums, n, TILE=1024)
    scan_sums[(1,)](sums, ahead, tiles, SUMS=4)
    scan_tiles[(tiles,)](x, ahead, out, n, TILE=1024)
